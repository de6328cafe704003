// Which machine a node is, if the project has others' machines, and if two Node objects name the same machine.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { nodes } from '../../kube/resource.ts'
import { dialects } from '../../sandbox/dialects.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { shownIn } from './stored.ts'
import { openStage } from './test-stage.ts'

const account = await dialects.hetzner.open()
const stage = await openStage({ dialect: 'hetzner', account })
const { control } = stage.cloud
const { register, say, seen, settled, events, node } = simulatedNodes(stage)
const [production, staging] = [8, 9]

/** Adds a server with this place in a private network. */
function addServer(hostname: string, net?: { network: number; ip: string }): string {
  const id = String(control.devices.add({ hostname })['id'])
  control.devices.setPrivateNet(id, net)
  return id
}

await stage.startSwept({
  // The machines do not exist, so no probe may be sent to their addresses.
  env: { HCLOUD_LOCATION: 'fsn1', HCLOUD_LOAD_BALANCER: 'assign:///?probe=off' },
  flags: ['--node-monitor-period=1s', '--node-removal-delay=1s', '--max-node-removals=100'],
})

const says = (name: string, words: RegExp) =>
  eventually(`an Event of ${name} says it`, async (observe) => words.test(observe(await events(name))) || undefined)
const leads = async (service: string) => control.route(shownIn(await stage.service(service)) ?? '')

test('a node whose server does not show its private address yet gets no server of another network', async () => {
  const ours = addServer('worker-1')
  const theirs = addServer('staging-web', { network: staging, ip: '10.0.0.2' })
  await register('worker-1', { nodeIp: '10.0.0.2' })
  await says('worker-1', /2 machines may be node worker-1: \d+ \(named worker-1\), \d+ \(named staging-web/)
  assert.is((await node('worker-1'))?.spec.providerID, undefined)
  control.devices.setPrivateNet(ours, { network: production, ip: '10.0.0.2' })
  const { spec, status } = await settled('worker-1')
  assert.is(spec.providerID, `hcloud://${ours}`)
  await say('worker-1', 'True')
  await stage.create(loadBalancer('web'))
  await eventually('its address leads to our server', async () => (await leads('web')) === ours || undefined)
  const shown = control.devices.all().find(({ id }) => String(id) === theirs) as {
    public_net: { ipv4: { ip: string } }
  }
  assert.not(status?.addresses?.some(({ address }) => address === shown.public_net.ipv4.ip))
})

test('a node that runs elsewhere is no server of this project, and stays when that server goes', async () => {
  const runner = addServer('ci-runner', { network: staging, ip: '10.0.0.7' })
  await register('edge-1', { nodeIp: '10.0.0.7' })
  await says('edge-1', /no machine has the name edge-1.*named ci-runner, has its address 10\.0\.0\.7/)
  assert.is((await node('edge-1'))?.spec.providerID, undefined)
  control.devices.remove(runner)
  await say('edge-1', 'Unknown')
  await says('edge-1', /no machine has one of the addresses 10\.0\.0\.7 or the name edge-1/)
  assert.ok(await node('edge-1'))
})

test('a renamed node whose old object stays keeps its addresses, and nothing is written', async () => {
  const id = addServer('a', { network: production, ip: '10.0.0.3' })
  await register('a', { nodeIp: '10.0.0.3' })
  await settled('a')
  await say('a', 'True')
  const names = Array.from({ length: 6 }, (_, n) => `renamed-${n}`)
  await say('worker-1', 'Unknown')
  await Promise.all(names.map((name) => stage.create(loadBalancer(name))))
  const all = () => Promise.all(names.map(leads))
  await eventually('all lead to the server', async () => (await all()).every((at) => at === id) || undefined)
  await stoppedLongAgo('a')
  control.calls.clear()
  await register('a-new', { nodeIp: '10.0.0.3', providerID: `hcloud://${id}` })
  await settled('a-new')
  await say('a-new', 'True')
  await say('worker-1', 'True')
  await stage.create(loadBalancer('after'))
  await eventually('a later one leads somewhere', async () => (await leads('after')) !== undefined || undefined)
  assert.equal(new Set(await all()), new Set([id]))
  assert.is(control.calls.count('POST /floating_ips/{id}/actions/assign'), 1, 'only that of the later one')
})

test('a machine that is dead loses its addresses, although a copy of its Node is ready', async () => {
  const id = addServer('b', { network: production, ip: '10.0.0.4' })
  await register('b', { nodeIp: '10.0.0.4' })
  await settled('b')
  await register('b-copy', { nodeIp: '10.0.0.4', providerID: `hcloud://${id}` })
  await settled('b-copy')
  for (const name of ['worker-1', 'a', 'a-new']) await say(name, 'Unknown')
  for (const name of ['b', 'b-copy']) await say(name, 'True')
  const names = Array.from({ length: 6 }, (_, n) => `dead-${n}`)
  await Promise.all(names.map((name) => stage.create(loadBalancer(name))))
  const all = () => Promise.all(names.map(leads))
  await eventually('all lead to the server', async () => (await all()).every((at) => at === id) || undefined)
  await say('b', 'Unknown')
  await say('worker-1', 'True')
  await eventually(
    'all have left it',
    async () => (await all()).every((at) => at !== undefined && at !== id) || undefined,
  )
  await seen('its copy is still there', 'b-copy', (one) => one !== undefined)
})

/** Writes on a node that its kubelet stopped before today. */
async function stoppedLongAgo(name: string): Promise<void> {
  const condition = { type: 'Ready', status: 'Unknown', reason: 'Test', lastTransitionTime: '2026-01-01T00:00:00Z' }
  await stage.client.patch(
    nodes,
    { name, patch: { merge: { status: { conditions: [condition] } } } },
    { subresource: 'status' },
  )
}

test.after(() => stage.close(account.cloud))

test.run()
