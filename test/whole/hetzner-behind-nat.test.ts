// A cluster on Hetzner Cloud in which most servers have no public IPv4 address: the cloud refuses to assign them an
// address.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dialects } from '../../sandbox/dialects.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { shownIn } from './stored.ts'
import { openStage } from './test-stage.ts'

const account = await dialects.hetzner.open({})
const stage = await openStage({ dialect: 'hetzner', account })
const { control } = stage.cloud
const { register, say, settled } = simulatedNodes(stage)
const names = Array.from({ length: 10 }, (_, n) => `node-${n}`)
const publicOnes = ['node-3', 'node-7']

test('with 8 of 10 servers behind a NAT gateway each address costs one assignment', async () => {
  const settings = { HCLOUD_LOCATION: 'fsn1', HCLOUD_LOAD_BALANCER: 'assign:///?probe=off' }
  await stage.startSwept({ env: settings })
  const machines = new Map<string, string>()
  for (const hostname of names) {
    const order = { hostname, hasIpv4: publicOnes.includes(hostname) }
    const server = control.devices.add(order) as { id: number; private_net: { ip: string }[] }
    machines.set(String(server.id), hostname)
    await register(hostname, { nodeIp: server.private_net[0]?.ip ?? '' })
  }
  for (const name of names) {
    await settled(name)
    await say(name, 'True')
  }
  control.calls.clear()
  const services = ['one', 'two', 'three', 'four', 'five']
  await Promise.all(services.map((name) => stage.create(loadBalancer(name))))
  for (const name of services) {
    const address = await eventually('its status shows it', async () => shownIn(await stage.service(name)))
    assert.ok(publicOnes.includes(machines.get(control.route(address) ?? '') ?? ''))
  }
  assert.is(control.calls.count('POST /floating_ips/{id}/actions/assign'), services.length)
})

test.after(() => stage.close(account.cloud))

test.run()
