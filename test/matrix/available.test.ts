// Available addresses: provisioned by an operator, or warm. The tables in test/ledger/available have the decisions
// about them.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { listAll } from '../../kube/list-all.ts'
import type { KubeObject, Service } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { heartbeatMark } from '../../ledger/record/marks.ts'
import { eventually } from '../whole/eventually.ts'
import { chosen, loadBalancer, reclaim } from '../whole/manifests.ts'
import { provisioned, warmNames } from '../whole/available-view.ts'
import { once } from '../whole/once.ts'
import { dialect, openStage, routes } from './dialect.ts'

const stage = await openStage()
const running = (size: number) => ({
  env: { ...dialect.here, EIP_WARM_POOL: String(size) },
  flags: ['--unbound-grace=5s', '--sweep-interval=2s'],
})
let product = await stage.startSwept(running(3))
const { calls, faults } = stage.cloud.control
const { kubectl } = stage

const eip = (name: string) => stage.client.get(elasticIPs, { name })
const available = (name: string) =>
  eventually(`${name} is Available`, async (observe) => {
    const { spec, status } = observe(await eip(name)) ?? {}
    return status?.phase === 'Available' && !spec?.claimRef ? status.address : undefined
  })
const message = (name: string, words: RegExp) =>
  eventually(
    `${name} says ${words}`,
    async (observe) => words.test(observe((await eip(name))?.status?.message) ?? '') || undefined,
  )
const apply = (object: KubeObject | object) => kubectl(['apply', '-f', '-'], object)
const named = (name: string, elasticIP: string, more: Record<string, string> = {}) =>
  loadBalancer(name, { annotations: { [chosen]: elasticIP, ...more } })
const reserved = (address: string | undefined) => stage.reserved().some((one) => one.address === address)
const refused = async (manifest: object, flags: string[] = []) => {
  const { code, stderr } = await kubectl(['create', ...flags, '-f', '-'], manifest)
  assert.is(code, 1)
  return stderr
}
const warm = async () =>
  (await listAll(stage.client, elasticIPs))
    .filter(({ metadata, status }) => metadata.labels?.['eip-admission.dev/warm-pool'] && status?.phase === 'Available')
    .map(({ metadata }) => metadata.name)
const nameOf = (tag: string) => tag.split('=')[0]
const filled = (size: number) =>
  eventually(`${size} addresses are warm`, async (observe) => observe(await warm()).length === size || undefined)

const own = await stage.order()

/** Provisions ElasticIP `office`. */
async function provisionOffice(): Promise<void> {
  assert.is((await apply(provisioned('office', own.id))).code, 0)
  assert.is(await available('office'), own.address)
}

/** Creates Service `web` with the address of `office`. */
async function createWeb(): Promise<void> {
  if (await stage.service('web')) return
  await provisionOffice()
  await stage.create(named('web', 'office'))
  assert.is(await stage.settled('web'), own.address)
}

/** Deletes Service `web`, if there is one, so that `office` is Available. */
async function freeOffice(): Promise<void> {
  await stage.run('delete', 'service', 'web', '--ignore-not-found')
  await stage.gone('web')
  await provisionOffice()
}

/** Waits for a full warm pool, and creates Service `quick` with an address from it. */
const createQuick = once(async () => {
  await filled(3)
  assert.equal((await warm()).toSorted(), ofThree)
  for (const { tags } of stage.reserved().filter(({ address }) => address !== own.address)) {
    assert.equal(tags.map(nameOf), ['usage', 'cluster', 'elastic-ip'])
  }
  faults.add({ on: routes.reserve, answer: 500 })
  const { spec } = await stage.create(loadBalancer('quick'))
  assert.ok(reserved(spec.loadBalancerIP))
  faults.clear()
  assert.is(await stage.settled('quick'), spec.loadBalancerIP)
})
/** Empties the pool, which leaves the address of `quick` and the provisioned one. */
const emptyPool = once(async () => {
  await createQuick()
  await product.stop()
  product = await stage.startSwept(running(0))
  await filled(0)
  await eventually('two are left', (observe) => observe(stage.reserved()).length === 2 || undefined)
})
const ofThree = warmNames(dialect.place, 3)

test('a provisioned ElasticIP becomes Available with its address and location', async () => {
  await provisionOffice()
  const { spec, metadata } = (await eip('office')) ?? {}
  assert.equal([spec?.location, spec?.reclaimPolicy], [dialect.place, 'Retain'])
  assert.equal(metadata?.finalizers, ['eip-admission.dev/reservation-cleanup'])
  const { tags } = stage.reserved().find(({ address }) => address === own.address) ?? {}
  assert.equal(tags, [], 'the reservation has no marks of ours')
})

test('a Service that names an ElasticIP gets its address in kubectl create, without a call to the provider', async () => {
  await provisionOffice()
  await filled(3)
  calls.clear()
  const dry = await stage.send(['create', '--dry-run=server'], named('web', 'office'))
  assert.is(dry.spec.loadBalancerIP, own.address)
  const { spec } = await stage.create(named('web', 'office'))
  assert.is(spec.loadBalancerIP, own.address)
  assert.is(await stage.settled('web'), own.address)
  const writes = calls.all().filter(({ method }) => method !== 'GET')
  assert.equal(writes, [], 'the sweep may have read')
  await eventually('it is Bound', async () => (await eip('office'))?.status?.phase === 'Bound' || undefined)
  const line = new RegExp(`^office +${own.address} +${dialect.place} +Bound +True +Bound +Retain +default +web `, 'm')
  assert.match(await stage.run('get', 'eip', 'office'), line)
})

test('a Service that names an ElasticIP that it cannot have is refused, with what to do', async () => {
  await createWeb()
  assert.match(
    await refused(named('x', 'nowhere')),
    'Service default/x gets no address: ElasticIP nowhere is not a provisioned address',
  )
  assert.match(await refused(named('x', 'office')), 'is held by Service default/web; delete that Service first')
  assert.match(await refused(named('x', 'office'), ['--dry-run=server']), 'is held by Service default/web')
})

test('other annotations about the address are ignored with a warning when an ElasticIP is named', async () => {
  const { elsewhere } = dialect
  const overruled = { [reclaim]: 'Retain', ...(elsewhere && { [elsewhere.annotation]: elsewhere.place }) }
  assert.match(await refused(named('x', 'nowhere', overruled), ['--dry-run=server']), 'is not a provisioned address')
  await freeOffice()
  const { stderr } = await kubectl(['create', '-f', '-'], named('web', 'office', overruled))
  for (const [annotation, value] of Object.entries(overruled)) {
    assert.match(stderr, `annotation ${annotation}: "${value}" is ignored, ElasticIP office decides`)
  }
  assert.is(await stage.settled('web'), own.address)
})

test('the chosen ElasticIP cannot be changed while the Service has its address', async () => {
  await createWeb()
  const output = await kubectl(['annotate', 'service', 'web', '--overwrite', `${chosen}=other`])
  assert.match(output.stderr, `its address ${own.address} comes from ElasticIP office and cannot be changed`)
  assert.is((await kubectl(['annotate', 'service', 'web', `${chosen}-`])).code, 1)
  assert.is((await kubectl(['label', 'service', 'web', 'team=web'])).code, 0)
})

test('an ElasticIP that is deleted under its Service stays until the Service is deleted, and the reservation stays', async () => {
  await createWeb()
  await stage.run('delete', 'eip', 'office', '--wait=false')
  await stage.run('label', 'service', 'web', 'tier=front')
  assert.is(await stage.settled('web'), own.address)
  await stage.run('delete', 'service', 'web')
  await stage.gone('web')
  await eventually('it no longer exists', async () => (await eip('office')) === undefined || undefined)
  assert.ok(reserved(own.address), 'the reservation stays with the administrator')
})

test('an ElasticIP that cannot be provisioned says why in its status and in an Event', async () => {
  const unknown = randomUUID()
  await apply(provisioned('wrong', unknown))
  await message('wrong', new RegExp(`${dialect.cloudName} has no reservation ${unknown}`))
  const event = ['get', 'events', '--field-selector=involvedObject.name=wrong,reason=NotAvailable']
  await eventually(
    'an Event reports it',
    async (observe) => observe(await stage.run(...event)).includes(unknown) || undefined,
  )
  const why = `ElasticIP wrong is not Available: ${dialect.cloudName} has no reservation`
  assert.match(await refused(named('x', 'wrong')), why)
  await stage.run('delete', 'eip', 'wrong', '--timeout=120s')
  await stage.run('delete', 'service', 'web', '--ignore-not-found')
  const both = [provisioned('office', own.id), named('together', 'office')]
  const output = await apply({ apiVersion: 'v1', kind: 'List', items: both })
  assert.is(output.code, 0, output.stderr)
  assert.is(await stage.settled('together'), own.address)
  await stage.run('delete', 'service', 'together')
  await available('office')
  await apply(provisioned('double', own.id))
  await message('double', /belongs to ElasticIP office already/)
  await stage.run('delete', 'eip', 'double', '--timeout=120s')
  const { stderr } = await apply(provisioned('default.web', own.id))
  assert.match(stderr, 'a name <namespace>.<service>, alone or with .ipv4 or .ipv6, is the record of that Service')
  assert.ok(reserved(own.address))
})

test('of two simultaneous Services that name one ElasticIP one gets it, and the refusal of the other names the holder', async () => {
  await freeOffice()
  const output = await Promise.all(['one', 'two'].map((name) => kubectl(['create', '-f', '-'], named(name, 'office'))))
  assert.equal(
    output.map(({ code }) => code).toSorted((a, b) => a - b),
    [0, 1],
  )
  const winner = output[0]?.code === 0 ? 'one' : 'two'
  assert.match(output.find(({ code }) => code === 1)?.stderr ?? '', `is held by Service default/${winner}`)
  assert.is(await stage.settled(winner), own.address)
  await stage.run('delete', 'service', winner)
  await available('office')
})

test('a provisioned address with reclaimPolicy Delete is deleted with its Service', async () => {
  const lost = await stage.order()
  await apply(provisioned('once', lost.id, 'Delete'))
  await available('once')
  await stage.create(named('uses', 'once'))
  assert.is(await stage.settled('uses'), lost.address)
  await stage.run('delete', 'service', 'uses')
  await eventually('both no longer exist', async () => (!reserved(lost.address) && !(await eip('once'))) || undefined)
})

test('the warm pool is filled, and a create takes an address from it without a call to the provider', createQuick)

test('a warm address is transferred to its Service, and the pool is filled again', async () => {
  await createQuick()
  await eventually(
    'it is transferred',
    async (observe) => observe(await stage.record('quick'))?.spec.source === undefined || undefined,
  )
  const address = (await stage.service('quick'))?.spec.loadBalancerIP
  const held = stage.reserved().find((one) => one.address === address)
  // The cluster's heartbeat may be on any of its reservations.
  const names = held?.tags.map(nameOf).filter((name) => name !== heartbeatMark)
  assert.equal(names?.toSorted(), ['cluster', 'service', 'usage'])
  await filled(3)
  // Service quick's, three warm ones, and the operator's.
  assert.is(stage.reserved().length, 5)
})

test('when many Services are created over three warm addresses, each gets an address of its own', async () => {
  await createQuick()
  await filled(3)
  const names = Array.from({ length: 9 }, (_, n) => `many-${n}`)
  await Promise.all(
    names.map((name) => stage.client.create(services, loadBalancer(name, { namespace: 'default' }) as Service)),
  )
  const shown = new Set<string>()
  for (const name of names) shown.add(await stage.settled(name))
  assert.is(shown.size, names.length)
  await filled(3)
  // In addition: Service quick's, three warm ones, and the operator's.
  const most = names.length + 1 + 3 + 1
  await eventually('nothing else is paid for', (observe) => observe(stage.reserved()).length === most || undefined)
  await Promise.all(names.map((name) => stage.client.remove(services, { namespace: 'default', name })))
  for (const name of names) await stage.gone(name)
})

test('at the quota the product limits its calls for the warm pool and for Services', async () => {
  await createQuick()
  await filled(3)
  await product.stop()
  await stage.run('create', 'service', 'loadbalancer', 'waits', '--tcp=80')
  await stage.run('create', 'service', 'loadbalancer', 'waits-too', '--tcp=80')
  await stage.run('label', 'eip', '-l', 'eip-admission.dev/warm-pool', 'eip-admission.dev/warm-pool-')
  stage.cloud.control.quota.set(stage.reserved().length)
  calls.clear()
  product = await stage.start(running(3))
  await eventually('it asks again and again', () => calls.count(routes.reserve) > 1 || undefined)
  await sleep(5_000)
  const asked = calls.count(routes.reserve)
  assert.ok(asked <= 18, `it was called ${asked} times in five seconds`)
  stage.cloud.control.quota.set(1000)
  await stage.run('delete', 'service', 'waits', 'waits-too')
  await stage.run('delete', 'eip', ...ofThree, '--timeout=120s')
  await filled(3)
})

test('an empty warm pool releases every warm address', emptyPool)

test('a deleted Service takes its warm address with it, and the administrator keeps the provisioned one', async () => {
  await emptyPool()
  await provisionOffice()
  await stage.run('delete', 'service', 'quick')
  await stage.gone('quick')
  await stage.run('delete', 'eip', 'office', '--timeout=120s')
  assert.equal(
    stage.reserved().map(({ address }) => address),
    [own.address],
  )
})

test.after(() => stage.close())

test.run()
