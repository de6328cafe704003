import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import type { Fault } from '../../sandbox/clouds/faults.ts'
import { eventually } from './eventually.ts'
import { finalizer, loadBalancer, shown } from './manifests.ts'
import { openWorld, routes } from './world.ts'

const world = await openWorld()
const patience = '[{"op":"replace","path":"/webhooks/0/timeoutSeconds","value":2}]'
await world.must('patch', 'mutatingwebhookconfiguration', 'zz-eip-admission', '--type=json', '-p', patience)
const running = { env: { METAL_METRO_NAME: 'da' }, flags: ['--cloud-timeout=5s'] }
let product = await world.startSwept(running)
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

/** In the end there is one address, and it is the one that the Service shows. */
async function endsWithOne(name: string): Promise<void> {
  const address = await world.settled(name)
  assert.equal(
    world.reserved().map((one) => one.address),
    [address],
  )
  await world.must('delete', 'service', name, '--timeout=20s')
  await world.gone(name)
  assert.equal(world.reserved(), [])
}

const troubles: { name: string; fault: Omit<Fault, 'on'>; said: string }[] = [
  { name: 'error', fault: { answer: 500 }, said: 'Equinix Metal answered 500 to POST' },
  { name: 'gateway', fault: { answer: 502 }, said: 'Equinix Metal answered 502 with text/html to POST' },
  { name: 'busy', fault: { answer: 429, retryAfterSeconds: 1 }, said: 'Equinix Metal answered 429 to POST' },
  { name: 'reset', fault: { answer: 'reset' }, said: 'Equinix Metal broke off POST' },
  { name: 'lost-error', fault: { answer: 500, done: true }, said: 'it may have been carried out all the same' },
  { name: 'lost-reset', fault: { answer: 'reset', done: true }, said: 'it may have been carried out all the same' },
]
for (const { name, fault, said } of troubles) {
  test(`a Service is created while the cloud has trouble (${name}) and has one address when it is well again`, async () => {
    faults.add({ on: routes.reserve, times: 1, ...fault })
    assert.match(await createPending(name), said)
    await endsWithOne(name)
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
  await endsWithOne('outage')
})

test('a cloud that is slower than the API server waits is waited for in the background: one call, one address', async () => {
  latency.set({ on: routes.reserve, ms: 3500 })
  const begun = performance.now()
  await createPending('slow')
  assert.ok(performance.now() - begun < 3000, 'the terminal did not wait for the cloud')
  await world.settled('slow')
  assert.is(world.calls(routes.reserve), 1)
  latency.clear()
  await endsWithOne('slow')
})

test('an answer that is held back for ever ends in one address', async () => {
  faults.add({ on: routes.reserve, answer: 'hang', done: true, times: 1 })
  await createPending('hangs')
  await world.settled('hangs')
  assert.is(world.calls(routes.reserve), 1)
  await endsWithOne('hangs')
})

test('many Services that are created during an outage have an address each in the end', async () => {
  faults.add({ on: routes.reserve, answer: 'reset', done: true, times: 3 })
  faults.add({ on: routes.reserve, answer: 500, times: 3 })
  const names = Array.from({ length: 8 }, (_, n) => `many-${n}`)
  await Promise.all(names.map((name) => world.create(loadBalancer(name))))
  const addresses = await Promise.all(names.map((name) => world.settled(name)))
  assert.equal(new Set(world.reserved().map(({ address }) => address)), new Set(addresses))
  await world.must('delete', 'service', ...names, '--timeout=20s')
  assert.equal(world.reserved(), [])
})

test('an address that the cloud grants late is picked up when it is granted', async () => {
  cloud.door.setGrants({ mode: 'late', afterMs: 2000 })
  assert.match(await createPending('late'), 'Equinix Metal has not granted the address yet')
  cloud.door.setGrants({ mode: 'at-once' })
  await endsWithOne('late')
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

test('with --on-cloud-failure=deny the Service is refused instead, and the next attempt gets the one address', async () => {
  await product.stop()
  product = await world.startSwept({ ...running, flags: ['--on-cloud-failure=deny'] })
  faults.add({ on: routes.reserve, answer: 'reset', done: true, times: 1 })
  const { code, stderr } = await kubectl(['create', '-f', '-'], loadBalancer('strict'))
  assert.is(code, 1)
  assert.match(stderr, 'Service default/strict gets no address now: Equinix Metal broke off POST')
  await world.create(loadBalancer('strict'))
  await endsWithOne('strict')
})

test('a Service that is created while nothing of ours runs is completed at the next start', async () => {
  await product.stop()
  const created = await world.create(loadBalancer('missed'))
  assert.equal([created.spec.loadBalancerIP, created.metadata.finalizers], [undefined, undefined])
  product = await world.startSwept(running)
  const address = await world.settled('missed')
  const { metadata } = (await world.service('missed')) ?? {}
  assert.equal([metadata?.annotations?.[shown], metadata?.finalizers], [address, [finalizer]])
  await endsWithOne('missed')
})

test('a Service that admission missed and the quota refuses says so in an Event, and is completed when there is room', async () => {
  await product.stop()
  await world.create(loadBalancer('crowded'))
  cloud.door.quota.set(0)
  product = await world.startSwept(running)
  await eventually('an Event says why', async (see) => {
    const events = see(await world.must('get', 'events', '--field-selector=involvedObject.name=crowded'))
    return /SyncLoadBalancerFailed.*exceeds the quota of the project/.test(events) || undefined
  })
  cloud.door.quota.set(256)
  await endsWithOne('crowded')
})

test('a start while the cloud is down is a start all the same; its Services are completed later', async () => {
  await product.stop()
  faults.add({ answer: 503 })
  product = await world.serve(running)
  await createPending('early')
  faults.clear()
  await endsWithOne('early')
})

test('the log shows no missing right and no secret', () => world.close())

test.run()
