// The process is killed at each step by which a Service gets its managed balancer, changes it and loses it. The next
// process finishes the work, and nothing is doubled or left. A request that the cloud did not get is a step that was
// not taken: only the first one is tested.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  balanced,
  balancerFinalizer,
  balancerId,
  balancerRequest,
  balancerRoutes,
  balancersOf,
} from './balancer-view.ts'
import { eventually } from './eventually.ts'
import { type Moment, ingressOf, onService, processKiller } from './kill-at.ts'
import { loadBalancer } from './manifests.ts'
import { ipOf, simulatedNodes } from './simulated-nodes.ts'
import { openStage } from './test-stage.ts'
import { type Write, interceptWrites } from './write-interceptor.ts'

const stage = await openStage()
// A lease would add another wait. The next process waits for a noted request for twice the time limit.
const running = { env: { METAL_LOAD_BALANCER: 'emlb:///da' }, flags: ['--cloud-timeout=1s', '--leader-elect=false'] }
const product = await stage.start(running)
const interceptor = await interceptWrites(stage)
const killAt = processKiller({ stage, interceptor, running, product })
const nodes = simulatedNodes(stage)
const addresses = [ipOf(await nodes.startNode('worker-1'), 4, 'public')]
const { balancers } = stage.cloud.control

const annotationOf = ({ object }: Write, name: string) => object?.metadata.annotations?.[name]
/** A request that succeeded at the cloud, so that the next process must find its result. */
const unanswered = (name: string, call: string): Moment => ({
  name: `the provider has done what was asked, to ${name}, and not answered`,
  call,
  done: true,
})
const atWrite = (name: string, write: (write: Write) => boolean): Moment => ({
  name,
  write: (one) => onService(one) && write(one),
})

const whileCreating: Moment[] = [
  atWrite('the request is noted', (write) => annotationOf(write, balancerRequest) !== undefined),
  { name: 'the provider gets the request to create the balancer', call: balancerRoutes.create, done: false },
  unanswered('create the balancer', balancerRoutes.create),
  atWrite('the Service gets the id of its balancer', (write) => annotationOf(write, balancerId) !== undefined),
  unanswered('create a pool', balancerRoutes.addPool),
  unanswered('add an origin', balancerRoutes.addOrigin),
  unanswered('create a port', balancerRoutes.addPort),
  atWrite('the Service shows the addresses', (write) => ingressOf(write).length > 0),
]

const whileDeleting: Moment[] = [
  unanswered('delete a pool', balancerRoutes.removePool),
  unanswered('delete the balancer', balancerRoutes.remove),
  atWrite('the Service loses its finalizer', ({ object }) => !object?.metadata.finalizers?.includes(balancerFinalizer)),
]

const whileChanging: Moment[] = [
  unanswered('delete a port', balancerRoutes.removePort),
  unanswered('create the pool of the new port', balancerRoutes.addPool),
]

const twoPorts = {
  ports: [
    { name: 'http', port: 80 },
    { name: 'https', port: 443 },
  ],
}
const creating = (name: string) => () => stage.kubectl(['create', '-f', '-'], loadBalancer(name, { spec: twoPorts }))
const counts = () => [balancersOf(stage).length, balancers.pools().length]
const remove = async (name: string) => {
  await stage.run('delete', 'service', name, '--wait=false')
  await stage.gone(name)
}

for (const [n, moment] of whileCreating.entries()) {
  test(`killed when ${moment.name}: the Service has exactly one balancer in the end`, async () => {
    const name = `creating-${n}`
    await killAt(moment, creating(name))
    await balanced(stage, name, addresses)
    assert.equal(counts(), [1, 2])
    await remove(name)
    assert.equal(counts(), [0, 0])
  })
}

for (const [n, moment] of whileChanging.entries()) {
  test(`killed when ${moment.name}: the ports are those of the Service in the end`, async () => {
    const name = `changing-${n}`
    await creating(name)()
    await balanced(stage, name, addresses)
    const ports = [
      { name: 'http', port: 80 },
      { name: 'alt', port: 8080 },
    ]
    const patch = ['patch', 'service', name, '--type=merge', '-p', JSON.stringify({ spec: { ports } })]
    await killAt(moment, () => stage.kubectl(patch))
    await balanced(stage, name, addresses)
    assert.equal(counts(), [1, 2])
    await remove(name)
    assert.equal(counts(), [0, 0])
  })
}

for (const [n, moment] of whileDeleting.entries()) {
  test(`killed when ${moment.name}: the Service and its balancer are deleted`, async () => {
    const name = `deleting-${n}`
    await creating(name)()
    await balanced(stage, name, addresses)
    await killAt(moment, () => stage.kubectl(['delete', 'service', name, '--wait=false']))
    await stage.gone(name)
    assert.equal(counts(), [0, 0])
  })
}

test('deleted while its request has no answer: the Service stays until nothing can be created any more', async () => {
  const hang: Moment = { name: 'the provider has created it and not answered', call: balancerRoutes.create, done: true }
  const { calls } = stage.cloud.control
  const before = calls.count(balancerRoutes.create)
  await killAt(hang, async () => {
    await creating('short')()
    // If the Service were deleted earlier, there would be no request.
    await eventually(hang.name, () => calls.count(balancerRoutes.create) > before || undefined)
    await stage.run('delete', 'service', 'short', '--wait=false')
  })
  await stage.gone('short')
  assert.equal(counts(), [0, 0])
})

test.after(async () => {
  await interceptor.close()
  await stage.run('delete', 'validatingwebhookconfiguration', 'write-interceptor')
  await stage.close()
})

test.run()
