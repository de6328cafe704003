// A TCP proxy in front of the API server that keeps dead connections open.
import { test } from 'uvu'
import { connect } from '../../kube/connect.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import { reflector } from '../../kube/reflector.ts'
import { services } from '../../kube/resource.ts'
import { silentLog } from '../fakes/log.ts'
import { eventually } from './eventually.ts'
import { openTcpProxy } from './tcp-proxy.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
const proxy = await openTcpProxy(Number(new URL(stage.controlPlane.url).port))
const server = `https://127.0.0.1:${proxy.port}`
const credentials = kubeconfig({ file: stage.controlPlane.kubeconfig, server })
const client = connect(credentials, { userAgent: 'test', timeoutMs: 10_000 })
/** Shorter than the silence of 150 s that the product allows. The server would end the watch after ten minutes. */
const pace = { silenceMs: 3_000, timeoutMs: 600_000 }
const watched = reflector({ client, resource: services, namespace: 'default', log: silentLog, pace })
const ending = new AbortController()

const create = (name: string) =>
  stage.client.create(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name },
    spec: { ports: [{ port: 80 }] },
  })
const hears = (name: string) => eventually(`it hears of ${name}`, () => watched.get(`default/${name}`))

test('a cache hears of later objects although the connections of its watch and its lists are dead and stay open', async () => {
  watched.start(ending.signal)
  await watched.synced()
  for (const name of ['first', 'second']) {
    await create(name)
    await hears(name)
    proxy.strand()
  }
  await create('third')
  await hears('third')
})

test.after(async () => {
  ending.abort()
  await stage.close(proxy)
})

test.run()
