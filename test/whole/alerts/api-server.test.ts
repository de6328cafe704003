// An API server that the process does not reach.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import { serviceAccountUser } from '../../../manifests/names.ts'
import { openTcpProxy } from '../tcp-proxy.ts'
import { openStage } from '../test-stage.ts'
import { inHours } from './hours.ts'

const stage = await openStage()
const { controlPlane } = stage
const proxy = await openTcpProxy(Number(new URL(controlPlane.url).port))
const kubeconfig = join(stage.dir, 'by-way-of-the-proxy.kubeconfig')
const direct = readFileSync(controlPlane.kubeconfigFor(serviceAccountUser('eip-admission')), 'utf8')
writeFileSync(kubeconfig, direct.replace(controlPlane.url, `https://127.0.0.1:${proxy.port}`))
const election = ['lease-duration=5s', 'renew-deadline=4s', 'retry-period=300ms'].map(
  (time) => `--leader-elect-${time}`,
)

test(
  'an API server that the process does not reach for an hour',
  inHours(stage, async ({ start, pass, expect }) => {
    await start('a', [`--kubeconfig=${kubeconfig}`, ...election])
    await pass(10)
    proxy.pause()
    await pass(60, { load: false, sweeps: false, paceMs: 250 })
    proxy.resume()
    await pass(60, { paceMs: 100 })
    await expect(['EIPAdmissionAPIServerErrors', 'EIPAdmissionNoLeader'], { atEnd: [] })
  }),
)

test.after(() => stage.close(proxy))

test.run()
