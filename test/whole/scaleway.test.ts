// The peculiarities of a cluster on Scaleway: servers of a zone, changes that take seconds, and ids that are reused.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ingressOf } from '../../kube/objects.ts'
import { nodes } from '../../kube/resource.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { shownIn } from './stored.ts'
import { openStage } from './test-stage.ts'
import { post } from './vendor-api.ts'

const stage = await openStage({ dialect: 'scaleway', serviceRanges: ['10.96.0.0/16', 'fd00:96::/112'] })
const { control } = stage.cloud
const { register, say, settled } = simulatedNodes(stage)
// The machines do not exist, so no probe may be sent to their addresses.
const env = { SCW_DEFAULT_ZONE: 'fr-par-1', SCW_LOAD_BALANCER: 'assign:///?probe=off' }
let product = await stage.startSwept({ env })

const machines = new Map<string, string>()

/** Adds a server and its node, which is ready. */
async function startNode(name: string): Promise<void> {
  machines.set(name, String(control.devices.add({ hostname: name })['id']))
  await register(name, { nodeIp: '10.0.0.1' })
  await settled(name)
  await say(name, 'True')
}

const nodeOf = (address: string | undefined) =>
  [...machines].find(([, machine]) => machine === control.route(address ?? ''))?.[0]
const leadsTo = (address: string | undefined, isRight: (node: string) => boolean = () => true) =>
  eventually(`${address} leads to a node`, () => {
    const node = nodeOf(address)
    return node !== undefined && isRight(node) ? node : undefined
  })
const shows = (name: string) => eventually('its status shows it', async () => shownIn(await stage.service(name)))
const idOf = (address: string | undefined) => stage.reserved().find((one) => one.address === address)?.id

test('a node gets the providerID of its zone, and the address of a Service leads there', async () => {
  await startNode('a')
  const node = await stage.client.get(nodes, { name: 'a' })
  assert.is(node?.spec.providerID, `scaleway://baremetal/fr-par-1/${machines.get('a')}`)
  assert.is(node?.metadata.labels?.['topology.kubernetes.io/zone'], 'fr-par-1')
  const { spec } = await stage.create(loadBalancer('web'))
  assert.is(await shows('web'), spec.loadBalancerIP)
  assert.is(nodeOf(spec.loadBalancerIP), 'a')
})

test('a node of another zone, and one of an Instance, keep what they are, and get no address', async () => {
  const id = '00000000-0000-4000-8000-000000000000'
  const others = { far: `scaleway://baremetal/nl-ams-1/${id}`, virtual: `scaleway://instance/fr-par-1/${id}` }
  for (const [name, providerID] of Object.entries(others)) {
    await register(name, { providerID, cloudProvider: 'internal' })
    await say(name, 'True')
  }
  await say('a', 'Unknown')
  await eventually('an Event says that no other node is there', async () => {
    const events = await stage.run('get', 'events', '--field-selector=involvedObject.name=web')
    return events.includes('no other node can take it') || undefined
  })
  await say('a', 'True')
  for (const name of Object.keys(others)) assert.ok(await stage.client.get(nodes, { name }))
})

test('an address moves when its node fails, and the Service shows it meanwhile', async () => {
  await startNode('b')
  const address = await shows('web')
  await say('a', 'Unknown')
  await leadsTo(address, (node) => node === 'b')
  assert.is(shownIn(await stage.service('web')), address)
  await say('a', 'True')
})

test('a change that fails after the provider accepted it is made again', async () => {
  control.setChanges({ fail: true })
  const { spec } = await stage.create(loadBalancer('unlucky'))
  await eventually('it failed', () => control.reservations.all().some(({ status }) => status === 'error') || undefined)
  control.setChanges({ fail: false })
  assert.is(await shows('unlucky'), spec.loadBalancerIP)
  await leadsTo(spec.loadBalancerIP)
})

test('a deleted Service has its address detached first; the next reservation has its id, and another Service', async () => {
  const address = await shows('unlucky')
  const id = idOf(address)
  control.calls.clear()
  await stage.run('delete', 'service', 'unlucky', '--timeout=120s')
  await stage.gone('unlucky')
  const writes = control.calls.all().filter(({ method }) => method !== 'GET')
  assert.equal(
    writes.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`),
    ['POST detach', `DELETE ${id}`],
  )
  await stage.create(loadBalancer('next'))
  assert.is(await shows('next'), address)
  assert.is(idOf(address), id)
  await leadsTo(address)
  await product.stop()
  product = await stage.startSwept({ env })
  assert.is(await shows('next'), address)
  assert.is(idOf(address), id)
})

test('a Service of two families has an address of each on one node; both move when it fails, and both go with it', async () => {
  const before = control.reservations.all().length
  await stage.create(loadBalancer('dual', { spec: { ipFamilyPolicy: 'RequireDualStack' } }))
  const addresses = await eventually('its status shows both', async () => {
    const shown = ingressOf((await stage.service('dual')) ?? {}).flatMap(({ ip }) => ip ?? [])
    return shown.length === 2 ? shown : undefined
  })
  const held = await Promise.all(['dual', 'dual.ipv6'].map((name) => stage.record(name)))
  assert.equal(
    addresses,
    held.map((record) => record?.status?.address),
  )
  const [first = '', second] = addresses.map(nodeOf)
  assert.is(first, second)
  await say(first, 'Unknown')
  for (const address of addresses) await leadsTo(address, (node) => node !== first)
  await say(first, 'True')
  await stage.run('delete', 'service', 'dual', '--timeout=120s')
  assert.equal(
    addresses.map((address) => control.route(address)),
    [undefined, undefined],
  )
  await eventually('neither is reserved', () => control.reservations.all().length === before || undefined)
})

test('an address that a previous assign:/// left on a machine stays there until its Service is deleted, and is freed then', async () => {
  await stage.create(loadBalancer('left'))
  const address = await shows('left')
  await leadsTo(address)
  const id = idOf(address)
  await product.stop()
  product = await stage.startSwept({ env: { ...env, SCW_LOAD_BALANCER: 'empty://' } })
  control.calls.clear()
  await stage.run('label', 'service', 'left', 'team=web')
  await stage.settled('left')
  assert.ok(nodeOf(address), 'nobody takes it from a Service that lives')
  await stage.run('delete', 'service', 'left', '--timeout=120s')
  await stage.gone('left')
  const writes = control.calls.all().filter(({ method }) => method !== 'GET')
  assert.equal(
    writes.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`),
    ['POST detach', `DELETE ${id}`],
  )
  assert.is(idOf(address), undefined)
})

test('an address that a person attached to a machine outside the cluster is not taken from it', async () => {
  const { spec } = await stage.create(loadBalancer('lent'))
  const address = spec.loadBalancerIP
  await stage.settled('lent')
  const stranger = String(control.devices.add({ hostname: 'stranger' })['id'])
  const fips = `${stage.cloud.url}/flexible-ip/v1alpha1/zones/fr-par-1/fips`
  const to = (action: string, body: object) => post(`${fips}/${action}`, { 'x-auth-token': stage.token }, body)
  await to('attach', { fips_ids: [idOf(address)], server_id: stranger })
  await eventually('the machine has it', () => control.route(address ?? '') === stranger || undefined)
  control.calls.clear()
  await stage.run('delete', 'service', 'lent', '--wait=false')
  await eventually('an Event reports it', async () => {
    const events = await stage.run('get', 'events', '--field-selector=involvedObject.name=lent')
    return events.includes('so it is not deleted; unassign it') || undefined
  })
  assert.is(control.calls.all().filter(({ method }) => method !== 'GET').length, 0)
  await to('detach', { fips_ids: [idOf(address)] })
  await stage.gone('lent')
  assert.is(idOf(address), undefined)
})

test('a misspelt zone is refused with the one that was meant', async () => {
  await product.stop()
  const misspelt = await stage.start({ env: { SCW_DEFAULT_ZONE: 'fr-par-11' } })
  const { code, stderr } = await stage.kubectl(['create', '-f', '-'], loadBalancer('victim'))
  assert.is(code, 1)
  assert.match(stderr, 'setting SCW_DEFAULT_ZONE: "fr-par-11" is not a known zone; did you mean "fr-par-1"?')
  await misspelt.stop()
})

test.after(() => stage.close())

test.run()
