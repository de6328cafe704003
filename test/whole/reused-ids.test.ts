// Scaleway reuses the id and the address of a deleted reservation for the next order, even if another program places
// it.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { shownIn } from './stored.ts'
import { openStage } from './test-stage.ts'
import { post } from './vendor-api.ts'

const stage = await openStage({ dialect: 'scaleway' })
const { control } = stage.cloud
const { register, say, settled } = simulatedNodes(stage)
// The machines do not exist, so no probe may be sent to their addresses.
const env = { SCW_DEFAULT_ZONE: 'fr-par-1', SCW_LOAD_BALANCER: 'assign:///?probe=off' }
let product = await stage.startSwept({ env })

const addServer = (hostname: string) => String(control.devices.add({ hostname })['id'])
const machines = { a: addServer('a'), b: addServer('b') }
for (const name of Object.keys(machines)) {
  await register(name, { nodeIp: '10.0.0.1' })
  await settled(name)
  await say(name, 'True')
}

const fips = `${stage.cloud.url}/flexible-ip/v1alpha1/zones/fr-par-1/fips`
const headers = { 'x-auth-token': stage.token }
const reservationOf = (address: string) => stage.reserved().find((one) => one.address === address)
/** The tags of a reservation, even while the cloud deletes it. */
const tagsOf = (id: string) => control.reservations.all().find((one) => one['id'] === id)?.['tags']
const isDeleted = (id: string) => eventually('the provider has deleted it', () => tagsOf(id) === undefined || undefined)
const writes = () =>
  control.calls
    .all()
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) => `${method} ${path.split('/').at(-1)}`)
const eventsOf = (name: string) => stage.run('get', 'events', `--field-selector=involvedObject.name=${name}`)

/** Creates a Service, and waits until the cloud routes its address to a node. */
async function serve(name: string): Promise<{ id: string; address: string }> {
  await stage.create(loadBalancer(name))
  const address = await eventually('its status shows it', async () => shownIn(await stage.service(name)))
  await eventually('it leads to a node', () => control.route(address))
  return { id: reservationOf(address)?.id ?? '', address }
}

/** Orders an address as another program, which gets the id that was deleted last. */
async function orderTheirs(body: object = {}): Promise<string> {
  const order = { project_id: stage.project, is_ipv6: false, tags: ['theirs'], ...body }
  return String(((await post(fips, headers, order)) as { id: unknown }).id)
}

test('a deletion whose answer is lost ends, and the next order of that id keeps its server', async () => {
  const { id, address } = await serve('lost')
  const server = addServer('theirs')
  control.calls.clear()
  control.faults.add({
    on: 'DELETE /flexible-ip/v1alpha1/zones/{zone}/fips/{id}',
    answer: 'hang',
    done: true,
    times: 1,
  })
  await stage.run('delete', 'service', 'lost', '--wait=false')
  await isDeleted(id)
  const ours = writes()
  assert.is(await orderTheirs({ server_id: server }), id)
  control.calls.clear()
  await stage.gone('lost')
  assert.equal(ours, ['POST detach', `DELETE ${id}`])
  assert.equal(writes(), [])
  assert.is(control.route(address), server)
  assert.equal(tagsOf(id), ['theirs'])
})

test('an address that was deleted in the console and ordered by others leads to no node of ours, and the Service gets an Event', async () => {
  const beside = await serve('beside')
  const { id, address } = await serve('taken')
  await product.stop()
  await fetch(`${fips}/${id}`, { method: 'DELETE', headers })
  await isDeleted(id)
  assert.is(await orderTheirs(), id)
  control.calls.clear()
  product = await stage.start({ env: { ...env, EIP_SWEEP_INTERVAL: '2s' } })
  for (const words of ['its reservation no longer belongs to this Service', 'it is neither moved nor deleted'])
    await eventually(`an Event says: ${words}`, async () => (await eventsOf('taken')).includes(words) || undefined)
  const from = control.route(beside.address)
  const node = from === machines.a ? 'a' : 'b'
  await say(node, 'Unknown')
  await eventually('the other address has moved', () => {
    const now = control.route(beside.address)
    return (now !== undefined && now !== from) || undefined
  })
  assert.is(control.route(address), undefined)
  await stage.run('delete', 'service', 'taken', '--wait=false')
  await stage.gone('taken')
  assert.equal(tagsOf(id), ['theirs'])
  assert.equal(
    writes().filter((write) => write.endsWith(id)),
    [],
  )
})

test.after(() => stage.close())

test.run()
