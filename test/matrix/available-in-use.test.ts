// An address that a Service shows or holds is never released and never gets a second holder, whatever its records say.
// More ways to damage a record, and who may claim an address, are tables of test/ledger/available/in-use.test.ts.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { listAll } from '../../kube/list-all.ts'
import { type ElasticIP, elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { provisioned } from '../whole/available-view.ts'
import { eventually } from '../whole/eventually.ts'
import { chosen, loadBalancer } from '../whole/manifests.ts'
import { shownIn } from '../whole/stored.ts'
import { warned } from '../whole/warned.ts'
import { dialect, openStage, routes } from './dialect.ts'

const stage = await openStage()
const { kubectl } = stage
const running = (size: number) => ({
  env: { ...dialect.here, EIP_WARM_POOL: String(size) },
  // A record without a status may have a request in flight, for up to twice a call's time limit.
  flags: ['--unbound-grace=3s', '--sweep-interval=1s', '--cloud-timeout=2s'],
})
let product = await stage.startSwept(running(2))

const eip = (name: string) => stage.client.get(elasticIPs, { name })
const isReserved = (address: string | undefined) => stage.reserved().some((one) => one.address === address)
const named = (name: string, elasticIP: string) => loadBalancer(name, { annotations: { [chosen]: elasticIP } })
const isGone = (name: string) =>
  eventually(`${name} no longer exists`, async () => (await eip(name)) === undefined || undefined)
const available = (name: string) =>
  eventually(`${name} is Available`, async (observe) => {
    return observe(await eip(name))?.status?.phase === 'Available' || undefined
  })
const refused = async (manifest: object) => {
  const { code, stderr } = await kubectl(['create', '-f', '-'], manifest)
  assert.is(code, 1)
  return stderr
}
const says = (name: string, words: RegExp) =>
  eventually(
    `${name} says ${words}`,
    async (observe) => words.test(observe((await eip(name))?.status?.message) ?? '') || undefined,
  )
const hasWarning = (name: string, words: RegExp) => warned(stage, `default/${name}`, words)

/** Provisions an ElasticIP with the policy Delete, and creates a Service that uses it. */
async function lend(elasticIP: string, service: string): Promise<{ id: string; address: string }> {
  const ordered = await stage.order()
  await stage.send(['create'], provisioned(elasticIP, ordered.id, 'Delete'))
  await available(elasticIP)
  await stage.create(named(service, elasticIP))
  assert.is(await stage.settled(service), ordered.address)
  await bound(elasticIP, service)
  return ordered
}

const bound = (elasticIP: string, service: string) =>
  eventually(`${elasticIP} is claimed by ${service}`, async (observe) => {
    const [source, record] = observe(await Promise.all([eip(elasticIP), stage.record(service)]))
    const isClaimed = record && source?.spec.claimRef?.elasticIPUID === record.metadata.uid
    return (isClaimed && source?.status?.phase === 'Bound' && record?.status?.phase === 'Bound') || undefined
  })

/** Makes a Service of other software show the address: the Service requested it, and the software wrote the status. */
async function guestShows(address: string): Promise<void> {
  const request = { 'metallb.io/loadBalancerIPs': address }
  await stage.create(loadBalancer('guest', { annotations: request, spec: { loadBalancerClass: 'example.com/other' } }))
  const status = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip: address }] } } })
  await stage.run('patch', 'service', 'guest', '--subresource=status', '--type=merge', '-p', status)
}

/** Waits for two sweeps, which once released such addresses. */
async function twoSweeps(): Promise<void> {
  const before = stage.calls(routes.list)
  await eventually('two sweeps', () => stage.calls(routes.list) >= before + 2 || undefined)
}

/** Addresses that are lent, by the name of the ElasticIP; its Service has the same name. */
type Lent = Map<string, string>

async function lendAll(names: readonly string[]): Promise<Lent> {
  const lent: Lent = new Map()
  for (const name of names) lent.set(name, (await lend(name, name)).address)
  return lent
}

async function stayWithTheirServices(lent: Lent): Promise<void> {
  await twoSweeps()
  for (const [name, address] of lent) {
    assert.ok(isReserved(address), `the reservation of ${name} is kept`)
    assert.is(await stage.settled(name), address)
    await bound(name, name)
  }
}

async function endWithTheirServices(lent: Lent): Promise<void> {
  await stage.run('delete', 'service', ...lent.keys())
  for (const [name, address] of lent) {
    await isGone(name)
    assert.not(isReserved(address), 'the policy Delete applies when the Service no longer exists')
  }
}

async function removeByForce(name: string): Promise<void> {
  await stage.run('patch', 'eip', name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
  await stage.run('delete', 'eip', name, '--wait=false')
}

/** Stores an ElasticIP as a backup tool does: the same object under a new uid, with its status. */
async function restore({ metadata, spec, ...rest }: ElasticIP, status: ElasticIP['status']): Promise<void> {
  const { name, labels, annotations, finalizers } = metadata
  const fresh = { name, ...(labels && { labels }), ...(annotations && { annotations }) }
  const created = await stage.client.create(elasticIPs, {
    ...rest,
    metadata: { ...fresh, ...(finalizers && { finalizers }) },
    spec,
  })
  if (status) await stage.client.replace(elasticIPs, { ...created, status }, { subresource: 'status' })
}

test('a warm address that a Service shows as its own is given to no other Service and stays when the pool is made smaller', async () => {
  const warm = await eventually('two warm addresses', async (observe) => {
    const all = observe(await listAll(stage.client, elasticIPs)).filter(({ status }) => status?.phase === 'Available')
    return all.length === 2 ? all : undefined
  })
  const { metadata: { name = '' } = {}, status: { address = '' } = {} } = warm[0] ?? {}
  await guestShows(address)
  for (const taker of ['one', 'two', 'three']) {
    const { spec } = await stage.create(loadBalancer(taker))
    assert.is.not(spec.loadBalancerIP, address)
  }
  await product.stop()
  product = await stage.startSwept(running(0))
  await says(name, /Service default\/guest shows it/)
  await stage.run('delete', 'eip', name, '--wait=false')
  await sleep(3_000)
  assert.ok(isReserved(address))
  await stage.run('delete', 'service', 'guest', 'one', 'two', 'three')
  await eventually('all are released', () => stage.reserved().length === 0 || undefined)
})

test('provisioned addresses stay with their Services, whatever a person removes from the records', async () => {
  const lent = await lendAll(['patched', 'unclaimed', 'forced'])
  await stage.run('patch', 'eip', 'patched', '--type=merge', '-p', '{"spec":{"claimRef":null}}')
  await stage.run('patch', 'eip', 'unclaimed', '--type=merge', '-p', '{"spec":{"claimRef":{"elasticIPUID":null}}}')
  await removeByForce('default.forced')
  for (const name of lent.keys()) assert.match(await refused(named('thief', name)), /ElasticIP \w+|is in use/)
  await stayWithTheirServices(lent)
  for (const name of lent.keys())
    assert.match(await refused(named('thief', name)), `is held by Service default/${name}`)
  await endWithTheirServices(lent)
})

test('provisioned addresses stay with their Services when their ElasticIPs are restored, or lost, while the product is down', async () => {
  const lent = await lendAll(['both', 'with-status', 'without-status'])
  await product.stop()
  const backup = await listAll(stage.client, elasticIPs)
  for (const { metadata } of backup) if (metadata.name !== 'both') await removeByForce(metadata.name)
  await stage.run('patch', 'eip', 'both', '--type=merge', '-p', '{"spec":{"claimRef":null}}')
  for (const one of backup.filter(({ metadata: { name } }) => !/^(default\.)?both$/.test(name)))
    await restore(one, /\bwith-status$/.test(one.metadata.name) ? one.status : undefined)
  product = await stage.startSwept(running(0))
  await stayWithTheirServices(lent)
  await endWithTheirServices(lent)
})

test('an available address that a Service shows as its own is neither given to another Service nor deleted', async () => {
  const ordered = await stage.order()
  await stage.send(['create'], provisioned('shown', ordered.id, 'Delete'))
  await available('shown')
  await guestShows(ordered.address)
  const reason = `address ${ordered.address} is in use.*Service default/guest shows it in status.loadBalancer`
  assert.match(await refused(named('other', 'shown')), new RegExp(reason))
  await stage.run('delete', 'eip', 'shown', '--wait=false')
  await says('shown', new RegExp(reason))
  await hasWarning('guest', new RegExp(reason))
  assert.ok(isReserved(ordered.address))
  await stage.run('delete', 'service', 'guest')
  await eventually('it is released afterwards', () => !isReserved(ordered.address) || undefined)
  await isGone('shown')
})

test('the deletion of a Service waits while another Service shows its address, and ends as soon as none does', async () => {
  await stage.create(loadBalancer('owner'))
  const address = await stage.settled('owner')
  const request = { 'kube-vip.io/loadbalancerIPs': address }
  await stage.create(loadBalancer('guest', { annotations: request, spec: { loadBalancerClass: 'example.com/other' } }))
  await stage.run('delete', 'service', 'owner', '--wait=false')
  await says('default.owner', /Service default\/guest shows it/)
  await hasWarning('owner', /Service default\/guest shows it/)
  await hasWarning('guest', /Delete what uses it/)
  // By then the back-off is longer than the wait below.
  await sleep(8_000)
  assert.ok(isReserved(address))
  await stage.run('delete', 'service', 'guest')
  const soonMs = 3_000
  await eventually(
    'its Service no longer exists',
    async () => (await stage.service('owner')) === undefined || undefined,
    soonMs,
  )
  await eventually('it is released', () => !isReserved(address) || undefined)
})

test('a Service whose provisioned address vanished at the provider shows it no more, and Event and records say why', async () => {
  const { id, address } = await lend('fleeting', 'loses')
  stage.cloud.control.reservations.vanish(id)
  const words = new RegExp(`no longer has (address )?${address}`)
  await hasWarning('loses', words)
  await says('fleeting', /has no reservation|no longer has/)
  await says('default.loses', /no longer has|has no reservation/)
  await eventually('nothing is shown', async () => shownIn(await stage.service('loses')) === undefined || undefined)
  await stage.run('delete', 'service', 'loses')
  await stage.run('delete', 'eip', 'fleeting', '--timeout=120s')
})

test("another cluster's reservation is refused with its marks, and is transferred if an operator confirms it", async () => {
  const marks = [dialect.usage, 'cluster=another-cluster', 'service=abc']
  const ordered = await stage.order(marks)
  await stage.send(['create'], provisioned('foreign', ordered.id))
  await says('foreign', /belongs to another cluster.*cluster=another-cluster.*transfer-from-cluster=another-cluster/)
  assert.match(await refused(named('x', 'foreign')), 'cluster=another-cluster')
  await stage.run('annotate', 'eip', 'foreign', 'eip-admission.dev/transfer-from-cluster=wrong')
  await sleep(2_000)
  assert.is((await eip('foreign'))?.status?.address, undefined)
  await stage.run(
    'annotate',
    '--overwrite',
    'eip',
    'foreign',
    'eip-admission.dev/transfer-from-cluster=another-cluster',
  )
  await available('foreign')
  const tags = stage.reserved().find(({ id }) => id === ordered.id)?.tags ?? []
  assert.not(tags.some((tag) => tag.includes('another-cluster') || tag.startsWith('service')))
  await stage.run('delete', 'eip', 'foreign', '--timeout=120s')
  assert.ok(isReserved(ordered.address), 'the reservation stays the operator’s')
})

test('a claimRef that an operator wrote says which Service may claim the address, and stays', async () => {
  const ordered = await stage.order()
  const manifest = provisioned('kept', ordered.id) as { spec: object }
  const claimRef = { namespace: 'default', name: 'chosen-one' }
  await stage.send(['create'], { ...manifest, spec: { ...manifest.spec, claimRef } })
  await available('kept')
  assert.match(await refused(named('x', 'kept')), 'ElasticIP kept is only for Service default/chosen-one')
  await stage.create(named('chosen-one', 'kept'))
  assert.is(await stage.settled('chosen-one'), ordered.address)
  await bound('kept', 'chosen-one')
  await stage.run('delete', 'service', 'chosen-one')
  await available('kept')
  const left = await eventually('its claim is over', async (observe) => {
    const { spec } = observe(await eip('kept')) ?? {}
    return spec?.claimRef?.elasticIPUID === undefined ? spec?.claimRef : undefined
  })
  assert.equal(left, claimRef)
  await stage.run('delete', 'eip', 'kept', '--timeout=120s')
})

test.after(() => stage.close())

test.run()
