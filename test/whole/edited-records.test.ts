// An operator writes another owner's address or reservation into the status of an ElasticIP.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { shownIn } from './stored.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage({ dialect: 'hetzner' })
const { control } = stage.cloud
const { register, say, settled } = simulatedNodes(stage)
// The machines do not exist, so no probe may be sent to their addresses.
const env = { HCLOUD_LOCATION: 'fsn1', HCLOUD_LOAD_BALANCER: 'assign:///?probe=off' }
let product = await stage.startSwept({ env })

const addServer = (hostname: string) =>
  control.devices.add({ hostname }) as { id: number; private_net: { ip: string }[] }
const machines: Record<string, string> = {}
for (const name of ['a', 'b']) {
  const {
    id,
    private_net: [network],
  } = addServer(name)
  machines[name] = String(id)
  await register(name, { nodeIp: network?.ip ?? '' })
  await settled(name)
  await say(name, 'True')
}
const theirs = await stage.order()
const server = String(addServer('theirs').id)
control.reservations.assign(theirs.id, server)

const nodeOf = (address: string) => Object.keys(machines).find((name) => machines[name] === control.route(address))
const eventsOf = (name: string) => stage.run('get', 'events', `--field-selector=involvedObject.name=${name}`)
const writesTo = (id: string) =>
  control.calls.all().filter(({ method, path }) => method !== 'GET' && path.split('/').includes(id))

async function serve(name: string): Promise<{ name: string; address: string; id: string }> {
  await stage.create(loadBalancer(name))
  const address = await eventually('its status shows it', async () => shownIn(await stage.service(name)))
  return { name, address, id: stage.reserved().find((one) => one.address === address)?.id ?? '' }
}
const [one, two, three] = [await serve('one'), await serve('two'), await serve('three')]

/** Edits the status of the record of a Service, as with `kubectl edit --subresource=status`. */
const edit = (name: string, status: object) => {
  const patch = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status })]
  return stage.kubectl(['patch', 'eip', `default.${name}`, ...patch])
}
const recorded = async (name: string) => (await stage.record(name))?.status

test('the API server refuses another address and another reservation in a record', async () => {
  for (const status of [{ address: two.address }, { reservationID: theirs.id }, { reservationID: null }]) {
    const { stderr } = await edit('one', status)
    assert.match(stderr, 'address and reservationID are fixed once the address is known: undo the edit')
  }
})

test("a record with the address of another one gets its own back, and reports it; the other's address moves meanwhile", async () => {
  await product.stop()
  assert.is((await edit('one', { address: null, reservationID: null })).code, 0)
  assert.is((await edit('one', { address: two.address, reservationID: one.id })).code, 0)
  const fault = control.faults.add({ on: `GET /floating_ips/${one.id}`, answer: 500 })
  control.calls.clear()
  product = await stage.start({ env })
  const from = nodeOf(two.address) ?? ''
  await say(from, 'Unknown')
  await eventually('the address of the other moves', () => nodeOf(two.address) !== from || undefined)
  await say(from, 'True')
  const shown = await stage.service('one')
  assert.equal([shown?.spec.loadBalancerIP, shownIn(shown)], [one.address, one.address])
  control.faults.remove(fault.id)
  await eventually(
    'its record has its address',
    async () => (await recorded('one'))?.address === one.address || undefined,
  )
  const words = `which is that of ElasticIP default.two. The provider says that it is ${one.address}: the ElasticIP is corrected`
  const told = new RegExp(`ContradictoryAddress .*${words}`)
  await eventually('an Event says it', async () => told.test(await eventsOf('one')) || undefined)
  assert.is((await stage.service('two'))?.spec.loadBalancerIP, two.address)
  await stage.run('delete', 'service', 'one', '--wait=false')
  await stage.gone('one')
  assert.is(nodeOf(two.address) === undefined, false)
})

test('a record with a foreign reservation touches nothing foreign, reports it, and finds its own again', async () => {
  await product.stop()
  assert.is((await edit('three', { address: null, reservationID: null })).code, 0)
  assert.is((await edit('three', { address: three.address, reservationID: theirs.id })).code, 0)
  control.calls.clear()
  product = await stage.start({ env: { ...env, EIP_SWEEP_INTERVAL: '2s' } })
  const words = 'its reservation no longer belongs to this Service'
  await eventually('an Event says it', async () => (await eventsOf('three')).includes(words) || undefined)
  await eventually('it has its reservation again', async () => {
    const { reservationID, address } = (await recorded('three')) ?? {}
    return (reservationID === three.id && address === three.address) || undefined
  })
  await eventually(
    'its status shows it',
    async () => shownIn(await stage.service('three')) === three.address || undefined,
  )
  await stage.run('delete', 'service', 'three', '--wait=false')
  await stage.gone('three')
  await eventually('it is released', () => stage.reserved().every(({ id }) => id !== three.id) || undefined)
  assert.equal(writesTo(theirs.id), [])
  assert.is(control.route(theirs.address), server)
})

test.after(() => stage.close())

test.run()
