// An ordinary day's work, processes that end, and processes and an API server that cannot reach each other.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import { serviceAccountUser } from '../../../settings/installed-names.ts'
import { freePorts } from '../../../sandbox/ports.ts'
import { runProduct } from '../../../sandbox/product.ts'
import { openTcpProxy } from '../tcp-proxy.ts'
import { openStage } from '../test-stage.ts'
import { eventually } from '../eventually.ts'
import { roundRobin } from '../round-robin.ts'
import { inHours } from './hours.ts'

const stage = await openStage()
const { controlPlane } = stage
const ports = await freePorts(4)
// As with a Service, a replica that ends gets no more reviews.
const service = await roundRobin(ports)
const url = `--webhook-url=https://127.0.0.1:${service.port}`
await runProduct(['install', `--kubeconfig=${controlPlane.kubeconfig}`, url])
const onPort = (n: number) => [`--webhook-secure-port=${ports[n]}`, '--shutdown-delay-duration=1s']

const proxy = await openTcpProxy(Number(new URL(controlPlane.url).port))
const kubeconfig = join(stage.dir, 'by-way-of-the-proxy.kubeconfig')
const direct = readFileSync(controlPlane.kubeconfigFor(serviceAccountUser('eip-admission')), 'utf8')
writeFileSync(kubeconfig, direct.replace(controlPlane.url, `https://127.0.0.1:${proxy.port}`))
const election = ['lease-duration=5s', 'renew-deadline=4s', 'retry-period=300ms'].map(
  (time) => `--leader-elect-${time}`,
)

test(
  'an API server that the process does not reach for an hour',
  inHours(stage, 'api-server-not-reached', async ({ start, pass, expect }) => {
    await start('a', [...onPort(0), `--kubeconfig=${kubeconfig}`, ...election])
    await pass(10)
    proxy.pause()
    await pass(60, { load: false, sweeps: false, paceMs: 250 })
    proxy.resume()
    await pass(60, { paceMs: 100 })
    await expect(['EIPAdmissionAPIServerErrors', 'EIPAdmissionNoLeader'], { atEnd: [] })
  }),
)

const configuration = 'mutatingwebhookconfiguration/zz-eip-admission'

/** Makes the API server call the webhooks at this URL. */
async function lead(url: string): Promise<void> {
  const patch = [{ op: 'replace', path: '/webhooks/0/clientConfig/url', value: url }]
  await stage.run('patch', configuration, '--type=json', '-p', JSON.stringify(patch))
}

test(
  'webhooks that the API server does not reach for an hour',
  inHours(stage, 'webhooks-not-reached', async ({ start, pass, expect }) => {
    const product = await start('a', onPort(0))
    const shows = (reached: 0 | 1) =>
      eventually(`webhooks_reached is ${reached}`, async () => {
        const { text } = await product.health('/metrics')
        return text.includes(`\neip_admission_webhooks_reached ${reached}\n`) || undefined
      })
    const usual = await stage.run('get', configuration, '-o', 'jsonpath={.webhooks[0].clientConfig.url}')
    await pass(10)
    await lead('https://127.0.0.1:1/elsewhere')
    await shows(0)
    await pass(60)
    await lead(usual)
    await shows(1)
    await pass(45)
    await expect(['EIPAdmissionServicesMissed', 'EIPAdmissionWebhooksNotReached'], { atEnd: [] })
  }),
)

test(
  'an hour of work with a rolling update in it fires nothing',
  inHours(stage, 'rolling-update', async ({ start, end, pass, expect }) => {
    await start('a', onPort(0))
    await start('b', onPort(1))
    await pass(20)
    for (const [n, fresh] of ['c', 'd'].entries()) {
      await start(fresh, onPort(2 + n))
      await pass(1, { sweeps: false })
      await end(n === 0 ? 'a' : 'b')
      await pass(1, { sweeps: false })
    }
    await pass(40)
    await expect([])
  }),
)

test(
  'a replica that is killed again and again',
  inHours(stage, 'replica-killed', async ({ start, end, pass, expect }) => {
    await start('a', onPort(0))
    for (let n = 0; n < 4; n += 1) {
      await start('b', onPort(1))
      await pass(5)
      await end('b', 'SIGKILL')
      await pass(1, { sweeps: false })
    }
    await start('b', onPort(1))
    await pass(5)
    await expect(['EIPAdmissionRestarts'])
  }),
)

test(
  'no process that runs',
  inHours(stage, 'no-process', async ({ start, end, pass, expect }) => {
    await start('a', onPort(0))
    await pass(10)
    await end('a')
    await pass(20, { load: false, sweeps: false })
    await expect(['EIPAdmissionDown'])
  }),
)

test(
  'no replica that leads',
  inHours(stage, 'no-leader', async ({ start, pass, expect }) => {
    await start('a', [...onPort(0), '--only=webhooks'])
    await pass(15, { load: false, sweeps: false })
    await expect(['EIPAdmissionNoLeader'])
  }),
)

test.after(() => stage.close({ close: () => Promise.all([proxy.close(), service.close()]).then(() => undefined) }))

test.run()
