import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import type { Fault } from '../../sandbox/clouds/faults.ts'
import { eventually } from './eventually.ts'
import { finalizer, loadBalancer, shown } from './manifests.ts'
import { openWorld, routes } from './world.ts'

const world = await openWorld()
// A call whose answer is lost may be under way for two of these; then the cloud is asked again.
const quick = { env: { METAL_METRO_NAME: 'da' }, flags: ['--cloud-timeout=2s'] }
let product = await world.startSwept(quick)
const { cloud, kubectl } = world
const { calls, faults, latency } = cloud.door

/** Creates a Service while the cloud has trouble: stored without an address, with a word of why in the terminal. */
async function createPending(name: string): Promise<string> {
  calls.clear()
  const { code, stdout, stderr } = await kubectl(['create', '-f', '-', '-o', 'json'], loadBalancer(name))
  assert.is(code, 0)
  assert.match(stderr, /^Warning: address pending, it follows in the background: /)
  const { metadata, spec } = JSON.parse(stdout) as Service
  assert.equal([metadata.finalizers, metadata.annotations, spec.loadBalancerIP], [[finalizer], undefined, undefined])
  return stderr
}

/** In the end each Service has one address, and nothing else is paid for. */
async function endWithOne(...names: string[]): Promise<void> {
  const addresses = await Promise.all(names.map((name) => world.settled(name)))
  assert.equal(new Set(world.reserved().map(({ address }) => address)), new Set(addresses))
  assert.is(world.reserved().length, names.length)
  await world.must('delete', 'service', ...names, '--timeout=30s')
  for (const name of names) await world.gone(name)
  assert.equal(world.reserved(), [])
}

const troubles: { name: string; fault: Omit<Fault, 'on'>; said: string }[] = [
  { name: 'error', fault: { answer: 500 }, said: 'Equinix Metal answered 500 to POST' },
  { name: 'gateway', fault: { answer: 502 }, said: 'Equinix Metal answered 502 with text/html to POST' },
  { name: 'busy', fault: { answer: 429, retryAfterSeconds: 1 }, said: 'Equinix Metal answered 429 to POST' },
  { name: 'reset', fault: { answer: 'reset' }, said: 'Equinix Metal broke off POST' },
]
for (const { name, fault, said } of troubles) {
  test(`a Service is created while the cloud has trouble (${name}), and the terminal says that its address follows`, async () => {
    const { id } = faults.add({ on: routes.reserve, ...fault })
    assert.match(await createPending(name), said)
    faults.remove(id)
  })
}

test('when the cloud is well again each of them has one address', () => endWithOne(...troubles.map(({ name }) => name)))

for (const answer of [500, 'reset'] as const) {
  test(`an address that was reserved although the answer was lost (${answer}) is found and in the terminal`, async () => {
    faults.add({ on: routes.reserve, answer, done: true, times: 1 })
    calls.clear()
    const name = `lost-${answer}`
    const { spec } = await world.create(loadBalancer(name))
    assert.equal(
      [world.reserved().map(({ address }) => address), world.calls(routes.reserve)],
      [[spec.loadBalancerIP], 1],
    )
    await endWithOne(name)
  })
}

test('a cloud that is down for longer is asked again until it is well', async () => {
  faults.add({ answer: 503 })
  await createPending('outage')
  const said = await eventually('an Event says why', async (see) => {
    const events = see(await world.must('get', 'events', '--field-selector=involvedObject.name=outage'))
    return /Warning .*SyncLoadBalancerFailed.*Address pending/.test(events) ? events : undefined
  })
  assert.match(said, 'EnsuringLoadBalancer')
  assert.match(await world.must('get', 'eip', 'default.outage', '-o', 'wide'), /da +Requested .*answered 503/)
  faults.clear()
  await endWithOne('outage')
})

test('many Services that are created during an outage have an address each in the end', async () => {
  faults.add({ on: routes.reserve, answer: 'reset', done: true, times: 3 })
  faults.add({ on: routes.reserve, answer: 500, times: 3 })
  const names = Array.from({ length: 8 }, (_, n) => `many-${n}`)
  await Promise.all(names.map((name) => world.create(loadBalancer(name))))
  await endWithOne(...names)
})

test('an address that the cloud grants late is picked up when it is granted', async () => {
  cloud.door.setGrants({ mode: 'late', afterMs: 2000 })
  assert.match(await createPending('late'), 'Equinix Metal has not granted the address yet')
  cloud.door.setGrants({ mode: 'at-once' })
  await endWithOne('late')
})

test('who deletes a Service whose address is still to come leaves nothing behind', async () => {
  faults.add({ on: routes.reserve, answer: 'reset', done: true, times: 1 })
  faults.add({ on: routes.list, answer: 500 })
  await createPending('unwanted')
  await world.must('delete', 'service', 'unwanted', '--wait=false')
  faults.clear()
  await world.gone('unwanted')
  assert.equal(world.reserved(), [])
})

test('with --on-cloud-failure=deny the Service is refused instead, and the next attempt has the one address', async () => {
  await product.stop()
  product = await world.startSwept({ ...quick, flags: [...quick.flags, '--on-cloud-failure=deny'] })
  faults.add({ on: routes.reserve, answer: 'reset', times: 1 })
  const { code, stderr } = await kubectl(['create', '-f', '-'], loadBalancer('strict'))
  assert.is(code, 1)
  assert.match(stderr, 'Service default/strict gets no address now: Equinix Metal broke off POST')
  await world.create(loadBalancer('strict'))
  await endWithOne('strict')
})

test('a Service that is created while nothing of ours runs is completed at the next start', async () => {
  await product.stop()
  const created = await world.create(loadBalancer('missed'))
  assert.equal([created.spec.loadBalancerIP, created.metadata.finalizers], [undefined, undefined])
  product = await world.startSwept(quick)
  const address = await world.settled('missed')
  const { metadata } = (await world.service('missed')) ?? {}
  assert.equal([metadata?.annotations?.[shown], metadata?.finalizers], [address, [finalizer]])
  await endWithOne('missed')
})

test('a Service that admission missed and the quota refuses says so in an Event, and is completed when there is room', async () => {
  await product.stop()
  await world.create(loadBalancer('crowded'))
  cloud.door.quota.set(0)
  product = await world.startSwept(quick)
  await eventually('an Event says why', async (see) => {
    const events = see(await world.must('get', 'events', '--field-selector=involvedObject.name=crowded'))
    return /SyncLoadBalancerFailed.*exceeds the quota of the project/.test(events) || undefined
  })
  cloud.door.quota.set(256)
  await endWithOne('crowded')
})

test('a start while the cloud is down is a start all the same; its Services are completed later', async () => {
  await product.stop()
  faults.add({ answer: 503 })
  product = await world.serve(quick)
  await createPending('early')
  faults.clear()
  await endWithOne('early')
})

test('a cloud that is slower than the API server waits is waited for in the background: one call, one address', async () => {
  await product.stop()
  const patience = '[{"op":"replace","path":"/webhooks/0/timeoutSeconds","value":2}]'
  await world.must('patch', 'mutatingwebhookconfiguration', 'zz-eip-admission', '--type=json', '-p', patience)
  product = await world.startSwept({ ...quick, flags: ['--cloud-timeout=5s'] })
  latency.set({ on: routes.reserve, ms: 4500 })
  await createPending('slow')
  const answered = calls.all(routes.reserve).map(({ status }) => status)
  assert.equal(answered, [undefined], 'the terminal did not wait for the cloud')
  await world.settled('slow')
  assert.is(world.calls(routes.reserve), 1)
  latency.clear()
  await endWithOne('slow')
})

test('an answer that is held back for ever ends in one address', async () => {
  faults.add({ on: routes.reserve, answer: 'hang', done: true, times: 1 })
  await createPending('hangs')
  await world.settled('hangs')
  assert.is(world.calls(routes.reserve), 1)
  await endWithOne('hangs')
})

test('who deletes a Service while the cloud is still thinking leaves nothing behind', async () => {
  latency.set({ on: routes.reserve, ms: 4000 })
  await createPending('impatient')
  await world.must('delete', 'service', 'impatient', '--timeout=20s')
  await world.gone('impatient')
  latency.clear()
  // The answer comes after the Service went.
  await eventually('the call is answered', () => calls.all(routes.reserve).every(({ status }) => status) || undefined)
  await eventually('nothing is reserved', () => world.reserved().length === 0 || undefined)
})

test('the log shows no missing right and no secret', () => world.close())

test.run()
