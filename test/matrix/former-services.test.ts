// Services of a predecessor that had stopped being LoadBalancers before we started.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { serviceTag } from '../whole/dialects.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer, shown } from '../whole/manifests.ts'
import { dialect, openStage } from './dialect.ts'

const stage = await openStage()
const cluster = `cluster=${await stage.run('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}')}`
const upstream = 'service.kubernetes.io/load-balancer-cleanup'
const has = (id: string) => stage.reserved().some((one) => one.id === id)
const patch = (name: string, change: object) =>
  stage.run('patch', 'service', name, '--type=merge', '-p', JSON.stringify(change))

/** A Service that got its address from a predecessor, and became a ClusterIP while no program served it. */
async function leave(name: string, ordered: { address: string }): Promise<void> {
  await stage.create(loadBalancer(name, { spec: { loadBalancerIP: ordered.address } }))
  await patch(name, { metadata: { finalizers: [upstream] } })
  await patch(name, { spec: { type: 'ClusterIP' } })
  const { metadata, spec } = (await stage.service(name)) ?? {}
  assert.equal([metadata?.finalizers, spec?.loadBalancerIP], [[upstream], ordered.address])
}

const orderFor = (name: string) => stage.order([dialect.usage, serviceTag(dialect, `default/${name}`), cluster])
const [former, deleted] = [await orderFor('previous'), await orderFor('deleted')]
await leave('previous', former)
await leave('deleted', deleted)
const theirs = await stage.order(['cluster-api'])
await leave('own', theirs)
await stage.start({ env: dialect.here, flags: ['--sweep-interval=1s', '--unbound-grace=1s'] })

test("a Service that is no LoadBalancer loses the predecessor's finalizer, and can be deleted", async () => {
  await stage.run('delete', 'service', 'deleted', '--timeout=120s')
  await eventually('the finalizer is off', async (observe) => {
    return !observe(await stage.service('previous'))?.metadata.finalizers?.length || undefined
  })
  await eventually('the reservation no longer exists', () => !has(deleted.id) || undefined)
})

test('after the sweep its old address does not pass for a user-chosen one', async () => {
  await eventually('the reservation no longer exists', () => !has(former.id) || undefined)
  assert.is((await stage.service('previous'))?.spec.loadBalancerIP, undefined)
  await patch('previous', { spec: { type: 'LoadBalancer' } })
  const address = await stage.settled('previous')
  const service = await stage.service('previous')
  assert.is(service?.metadata.annotations?.[shown], address)
  assert.ok(stage.reserved().some((one) => one.address === address))
})

test('an address without the marks of the predecessor stays: a person wrote it', async () => {
  assert.is((await stage.service('own'))?.spec.loadBalancerIP, theirs.address)
  assert.ok(has(theirs.id))
})

test.after(() => stage.close())

test.run()
