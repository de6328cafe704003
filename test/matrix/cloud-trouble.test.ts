// Trouble of the cloud during a create. The contract in test/clouds covers how clients read each answer.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { configMaps } from '../../kube/resource.ts'
import { names as installed } from '../../settings/installed-names.ts'
import type { Fault } from '../../sandbox/clouds/faults.ts'
import type { Product } from '../../sandbox/product.ts'
import { eventually } from '../whole/eventually.ts'
import { finalizer, loadBalancer, shown } from '../whole/manifests.ts'
import { once } from '../whole/once.ts'
import { warned } from '../whole/warned.ts'
import { clusterTest, dialect, openStage, routes } from './dialect.ts'

const stage = await openStage()
// A request with a lost answer may be in flight for twice this time; then the product calls the cloud again.
const quick = { env: dialect.here, flags: ['--cloud-timeout=2s'] }
const { cloud, kubectl } = stage
const { calls, faults, latency } = cloud.control
const { cloudName, setGrants } = dialect

/** Creates a Service during trouble of the cloud: it is stored without an address, and a warning says why. */
async function createPending(name: string): Promise<string> {
  calls.clear()
  const { code, stdout, stderr } = await kubectl(['create', '-f', '-', '-o', 'json'], loadBalancer(name))
  assert.is(code, 0)
  assert.match(stderr, /^Warning: address pending, the controller assigns it later \(request [0-9a-f]{8}\): /)
  const { metadata, spec } = JSON.parse(stdout) as Service
  assert.equal([metadata.finalizers, metadata.annotations, spec.loadBalancerIP], [[finalizer], undefined, undefined])
  return stderr
}

/** Waits until each Service has one address and nothing else is reserved, and deletes them. */
async function endWithOne(...names: string[]): Promise<void> {
  const addresses = await Promise.all(names.map((name) => stage.settled(name)))
  assert.equal(new Set(stage.reserved().map(({ address }) => address)), new Set(addresses))
  assert.is(stage.reserved().length, names.length)
  await stage.run('delete', 'service', ...names, '--timeout=120s')
  for (const name of names) await stage.gone(name)
  assert.equal(stage.reserved(), [])
}

let product: Product

/** Starts the product while the cloud is down, with Service `early`; afterwards the cloud answers. */
const startProduct = once(async () => {
  faults.add({ answer: 503 })
  product = await stage.serve(quick)
  await createPending('early')
  const output = await eventually('an Event says why', async (observe) => {
    const events = observe(await stage.run('get', 'events', '--field-selector=involvedObject.name=early'))
    return /Warning .*SyncLoadBalancerFailed.*Address pending/.test(events) ? events : undefined
  })
  assert.match(output, 'EnsuringLoadBalancer')
  const line = new RegExp(`${dialect.place} +Requested .*(answered 503|did not answer|was not sent)`)
  assert.match(await stage.run('get', 'eip', 'default.early', '-o', 'wide'), line)
  faults.clear()
  const mark = { namespace: 'eip-admission', name: installed.ledgerConfigMap }
  await eventually('the provider is read when it answers', async () => {
    return (await stage.client.get(configMaps, mark))?.data?.['adopted']
  })
})

test('the product starts while the provider is down, and a new Service says why its address is pending', startProduct)

const strike = (fault: Fault) => () => faults.add(fault)
const troubles: { name: string; begin: () => unknown; end?: () => unknown; output: string }[] = [
  { name: 'outage', begin: strike({ answer: 503 }), output: `${cloudName} answered 503` },
  { name: 'error', begin: strike({ on: routes.reserve, answer: 500 }), output: `${cloudName} answered 500 to POST` },
  {
    name: 'gateway',
    begin: strike({ on: routes.reserve, answer: 502 }),
    output: `${cloudName} answered 502 with text/html to POST`,
  },
  {
    name: 'busy',
    begin: strike({ on: routes.reserve, answer: 429, retryAfterSeconds: 1 }),
    output: `${cloudName} answered 429 to POST`,
  },
  { name: 'reset', begin: strike({ on: routes.reserve, answer: 'reset' }), output: `${cloudName} broke off POST` },
]
if (setGrants) {
  troubles.push({
    name: 'late',
    begin: () => setGrants(cloud.controlUrl, { mode: 'late', afterMs: 2000 }),
    end: () => setGrants(cloud.controlUrl, { mode: 'at-once' }),
    output: `${cloudName} has not granted the address yet`,
  })
}
const createInTrouble = troubles.map(({ begin, end = () => faults.clear(), name, output }) =>
  once(async () => {
    await startProduct()
    await begin()
    assert.match(await createPending(name), output)
    await end()
  }),
)
for (const [n, { name }] of troubles.entries()) {
  clusterTest(
    `a create during trouble of the provider (${name}) succeeds with a warning that the address is pending`,
    async () => {
      await createInTrouble[n]?.()
    },
  )
}

const many = Array.from({ length: Math.min(8, dialect.burst / 10) }, (_, n) => `many-${n}`)
const createMany = once(async () => {
  await startProduct()
  faults.add({ on: routes.reserve, answer: 'reset', done: true, times: 3 })
  faults.add({ on: routes.reserve, answer: 500, times: 3 })
  const created = await Promise.all(
    many.map((name) => kubectl(['create', '-f', '-', '-o', 'json'], loadBalancer(name))),
  )
  for (const { code, stdout, stderr } of created) {
    assert.is(code, 0)
    const { loadBalancerIP } = (JSON.parse(stdout) as Service).spec
    assert.is(stderr.startsWith('Warning: address pending'), loadBalancerIP === undefined)
  }
})
clusterTest('during an outage each new Service has its address or a warning that it is pending', createMany)

const deletePending = once(async () => {
  await startProduct()
  faults.add({ on: routes.reserve, answer: 'reset', done: true })
  faults.add({ on: routes.list, answer: 500 })
  await createPending('unwanted')
  await stage.run('delete', 'service', 'unwanted', '--wait=false')
  faults.clear()
})
clusterTest('a Service whose address is pending can be deleted', deletePending)

/** Lets all of them wait at the same time, until the product retries on its own; then deletes them. */
const settleAll = once(async () => {
  for (const create of [...createInTrouble, createMany, deletePending]) await create()
  await stage.gone('unwanted')
  await endWithOne('early', ...troubles.map(({ name }) => name), ...many)
})
clusterTest('after the outage each pending Service has one address, and a deleted one leaves no reservation', settleAll)

/** Keeps the product running, without any Service of the outage. */
const endOutage = once(async () => {
  await startProduct()
  if (stage.reserved().length > 0 || (await stage.service('early'))) await endWithOne('early')
})

clusterTest(
  'no Service gets an address that none can have, and the right one follows when the provider says it',
  async () => {
    await endOutage()
    faults.add({ answer: 'other-address', address: '127.0.0.1' })
    assert.match(
      await createPending('lied'),
      /reservation \S+ is 127\.0\.0\.1, which is a loopback address; it stays reserved/,
    )
    assert.match(await stage.run('get', 'eip', 'default.lied', '-o', 'wide'), 'Requested')
    faults.clear()
    await endWithOne('lied')
  },
)

/**
 * Starts the product at the quota, so that it denies new Services during trouble; Service `missed` was created before.
 */
const startStrict = once(async () => {
  await endOutage()
  await product.stop()
  const created = await stage.create(loadBalancer('missed'))
  assert.equal([created.spec.loadBalancerIP, created.metadata.finalizers], [undefined, undefined])
  cloud.control.quota.set(0)
  product = await stage.startSwept({ ...quick, flags: [...quick.flags, '--on-cloud-failure=deny'] })
  await warned(stage, 'default/missed', new RegExp(`SyncLoadBalancerFailed.*${dialect.words.quota}`))
  cloud.control.quota.set(256)
  const address = await stage.settled('missed')
  const { metadata } = (await stage.service('missed')) ?? {}
  assert.equal([metadata?.annotations?.[shown], metadata?.finalizers], [address, [finalizer]])
  await endWithOne('missed')
})

clusterTest(
  'a Service that admission missed gets an Event when the quota refuses it, and its address when the quota allows',
  startStrict,
)

clusterTest('with --on-cloud-failure=deny the create is refused, and the next one has the one address', async () => {
  await startStrict()
  faults.add({ on: routes.reserve, answer: 'reset', times: 1 })
  const { code, stderr } = await kubectl(['create', '-f', '-'], loadBalancer('strict'))
  assert.is(code, 1)
  assert.match(stderr, `Service default/strict gets no address now: ${cloudName} broke off POST`)
  await stage.create(loadBalancer('strict'))
  await endWithOne('strict')
})

/** Has the product wait longer for the cloud than the API server does for a review: 9 of 10 seconds. */
const outlastTheWebhook = once(async () => {
  await product.stop()
  product = await stage.startSwept({ ...quick, flags: ['--cloud-timeout=16s'] })
})
const outlasting = { on: routes.reserve, ms: 13_000 }

clusterTest('a reserve call that outlasts the webhook time-out ends in one address after one call', async () => {
  await endOutage()
  await outlastTheWebhook()
  latency.set(outlasting)
  await createPending('slow')
  const answered = calls.all(routes.reserve).map(({ status }) => status)
  assert.equal(answered, [undefined], 'the terminal did not wait for the provider')
  await stage.settled('slow')
  assert.is(stage.calls(routes.reserve), 1)
  latency.clear()
  await endWithOne('slow')
})

clusterTest('a reserve call that is never answered ends in one address', async () => {
  await endOutage()
  await outlastTheWebhook()
  faults.add({ on: routes.reserve, answer: 'hang', done: true, times: 1 })
  await createPending('hangs')
  await stage.settled('hangs')
  assert.is(stage.calls(routes.reserve), 1)
  await endWithOne('hangs')
})

clusterTest('a Service that is deleted during its reserve call leaves no reservation', async () => {
  await endOutage()
  await outlastTheWebhook()
  latency.set(outlasting)
  await createPending('impatient')
  await stage.run('delete', 'service', 'impatient', '--timeout=120s')
  await stage.gone('impatient')
  latency.clear()
  // The answer comes after the Service was deleted.
  await eventually('the call is answered', () => calls.all(routes.reserve).every(({ status }) => status) || undefined)
  await eventually('nothing is reserved', () => stage.reserved().length === 0 || undefined)
})

for (const answer of [500, 'reset'] as const) {
  test(`an address whose reserve answer was lost (${answer}) is found and returned by the create`, async () => {
    await endOutage()
    // The reserve call and the search for its outcome share this time.
    await outlastTheWebhook()
    faults.add({ on: routes.reserve, answer, done: true, times: 1 })
    calls.clear()
    const name = `lost-${answer}`
    const { spec } = await stage.create(loadBalancer(name))
    assert.equal(
      [stage.reserved().map(({ address }) => address), stage.calls(routes.reserve)],
      [[spec.loadBalancerIP], 1],
    )
    await endWithOne(name)
  })
}

test.after(() => stage.close())

test.run()
