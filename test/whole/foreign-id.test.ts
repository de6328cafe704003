// Hetzner answers an order with the id of an address that another program in the project uses.
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
const env = { HCLOUD_LOCATION: 'fsn1', HCLOUD_LOAD_BALANCER: 'assign:///?probe=off', EIP_SWEEP_INTERVAL: '2s' }
await stage.startSwept({ env })

const addServer = (hostname: string) =>
  control.devices.add({ hostname }) as { id: number; private_net: { ip: string }[] }
const node = addServer('a')
await register('a', { nodeIp: node.private_net[0]?.ip ?? '' })
await settled('a')
await say('a', 'True')

const theirs = await stage.order()
const server = addServer('theirs')
control.reservations.assign(theirs.id, String(server.id))

const writesTo = (id: string) =>
  control.calls.all().filter(({ method, path }) => method !== 'GET' && path.split('/').includes(id))
const others = () => stage.reserved().filter(({ id }) => id !== theirs.id)

test('an order that is answered with a foreign id takes nothing from others, and the Service gets an address all the same', async () => {
  control.calls.clear()
  control.faults.add({ on: 'POST /floating_ips', answer: 'other-id', otherId: Number(theirs.id), times: 1 })
  await stage.create(loadBalancer('web'))
  const address = await eventually('its status shows an address', async () => shownIn(await stage.service('web')))
  assert.is.not(address, theirs.address)
  assert.is(control.route(address), String(node.id))
  await eventually('one address is reserved for it', () => others().length === 1 || undefined)
  assert.is(others()[0]?.address, address)
  await stage.run('delete', 'service', 'web', '--wait=false')
  await stage.gone('web')
  await eventually('it is released', () => others().length === 0 || undefined)
  assert.equal(writesTo(theirs.id), [])
  assert.is(control.route(theirs.address), String(server.id))
})

test('reads that are answered with a foreign id assign and delete nothing, until they are right again', async () => {
  await stage.create(loadBalancer('api'))
  const address = await eventually('its status shows it', async () => shownIn(await stage.service('api')))
  control.calls.clear()
  const read = { on: 'GET /floating_ips/{id}', answer: 'other-id', otherId: Number(theirs.id) } as const
  control.faults.add(read)
  await stage.run('delete', 'service', 'api', '--wait=false')
  await eventually('it is read', () => control.calls.count('GET /floating_ips/{id}') > 2 || undefined)
  assert.is(others().length, 1)
  control.faults.clear()
  await stage.gone('api')
  await eventually('it is released', () => others().length === 0 || undefined)
  assert.equal(writesTo(theirs.id), [])
  assert.is(control.route(address), undefined)
  assert.is(control.route(theirs.address), String(server.id))
})

test.after(() => stage.close())

test.run()
