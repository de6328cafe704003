// The peculiarities of a cluster on Hetzner Cloud: addresses that the cloud assigns to one server, which we choose.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { endpointSlices } from '../../kube/resource.ts'
import { dialects } from '../../sandbox/dialects.ts'
import type { Product } from '../../sandbox/product.ts'
import type { Result } from '../../commands/doctor/check.ts'
import { provisioned } from './available-view.ts'
import { typed } from './command-line.ts'
import { eventually } from './eventually.ts'
import { loadBalancer, reclaim } from './manifests.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { shownIn } from './stored.ts'
import { openStage } from './test-stage.ts'

const other = { project: '2', token: 'the-token-of-another-project' }
const accounts = await dialects.hetzner.open({ other })
const stage = await openStage({ dialect: 'hetzner', account: accounts })
const { control } = stage.cloud
const { register, say, settled } = simulatedNodes(stage)
const location = 'eip-admission.dev/location'

// The machines do not exist, so no probe may be sent to their addresses.
const settings = {
  HCLOUD_LOCATION: 'fsn1',
  HCLOUD_LOAD_BALANCER: 'assign:///?probe=off',
  EIP_SERVICE_LOCATION_WINS: 'true',
}
let product: Product = await stage.startSwept({ env: settings })

const machines = new Map<string, string>()

/** Adds a server and its node, which is ready. */
async function startNode(name: string, nodeIp?: string): Promise<void> {
  const device = control.devices.add({ hostname: name }) as { id: number; private_net: { ip: string }[] }
  machines.set(name, String(device.id))
  await register(name, { nodeIp: nodeIp ?? device.private_net[0]?.ip ?? '' })
  await settled(name)
  await say(name, 'True')
}

const isReserved = (address: string | undefined) => stage.reserved().some((one) => one.address === address)
/** The node to which the cloud routes an address. */
const nodeOf = (address: string | undefined) =>
  [...machines].find(([, machine]) => machine === control.route(address ?? ''))?.[0]
const leadsTo = (address: string | undefined, isRight: (node: string) => boolean = () => true) =>
  eventually(`${address} leads to a node`, () => {
    const node = nodeOf(address)
    return node !== undefined && isRight(node) ? node : undefined
  })
const shows = (name: string) => eventually('its status shows it', async () => shownIn(await stage.service(name)))
const eventsOf = (name: string) => stage.run('get', 'events', '--field-selector', `involvedObject.name=${name}`)

test('a created Service returns with its address; without a node it stays pending, and an Event says why', async () => {
  const { spec } = await stage.create(loadBalancer('first'))
  assert.match(spec.loadBalancerIP ?? '', /^203\.0\.113\./)
  await eventually(
    'an Event says it',
    async () => (await eventsOf('first')).includes('no node is healthy') || undefined,
  )
  assert.is(shownIn(await stage.service('first')), undefined)
})

test('as soon as a node is ready, the address leads there, and the Service shows it', async () => {
  await startNode('a')
  const address = await shows('first')
  assert.is(nodeOf(address), 'a')
  const words = new RegExp(`AddressAssigned .*Address ${address} is assigned to node a`)
  await eventually('an Event says it', async () => words.test(await eventsOf('first')) || undefined)
})

test('addresses are spread over the nodes, and at rest nobody calls the provider', async () => {
  await startNode('b')
  const names = ['s1', 's2', 's3']
  await Promise.all(names.map((name) => stage.create(loadBalancer(name))))
  const nodes = await Promise.all(names.map(async (name) => leadsTo(await shows(name))))
  assert.ok(nodes.filter((node) => node === 'b').length >= 2, nodes.join())
  control.calls.clear()
  await stage.run('annotate', 'service', 's1', 'example.com/nothing=1')
  await stage.run('label', 'node', 'a', 'example.com/nothing=1')
  await eventually(
    'both were seen',
    async () => (await stage.service('s1'))?.metadata.annotations !== undefined || undefined,
  )
  assert.equal(control.calls.all(), [])
})

test('an address leaves a node that is not ready, stays shown meanwhile, and does not return', async () => {
  const address = await shows('first')
  const from = nodeOf(address) ?? ''
  await say(from, 'Unknown')
  const to = await leadsTo(address, (node) => node !== from)
  assert.is(shownIn(await stage.service('first')), address)
  const words = `moved from ${from} to node ${to}: node ${from} is not Ready`
  await eventually('an Event says it', async () => (await eventsOf('first')).includes(words) || undefined)
  await say(from, 'True')
  await stage.create(loadBalancer('later'))
  await shows('later')
  assert.is(nodeOf(address), to)
})

test('while no node is ready nothing moves', async () => {
  const address = await shows('first')
  const node = nodeOf(address)
  for (const name of ['a', 'b']) await say(name, 'Unknown')
  await eventually(
    'an Event says it',
    async () => (await eventsOf('first')).includes('no other node is healthy') || undefined,
  )
  assert.is(nodeOf(address), node)
  for (const name of ['a', 'b']) await say(name, 'True')
})

test('while all nodes are excluded an address stays, a new one waits, and the Events name the label', async () => {
  const label = 'node.kubernetes.io/exclude-from-external-load-balancers'
  const address = await shows('first')
  await stage.run('label', 'node', '--all', `${label}=`)
  await stage.create(loadBalancer('unplaced'))
  const tells = (name: string, words: string) =>
    eventually('an Event says it', async () => (await eventsOf(name)).includes(words) || undefined)
  await tells('unplaced', `no node can take it; 2 healthy nodes have the label ${label}: remove it`)
  await tells('first', `is excluded; no other node can take it; 1 healthy node has the label ${label}`)
  await leadsTo(address)
  assert.is(shownIn(await stage.service('unplaced')), undefined)
  await stage.run('label', 'node', '--all', '--overwrite', `${label}=false`)
  await shows('unplaced')
  await stage.run('label', 'node', '--all', `${label}-`)
})

test('under policy Local an address goes to a node with a ready endpoint', async () => {
  await stage.create(loadBalancer('local', { spec: { externalTrafficPolicy: 'Local' } }))
  const address = await shows('local')
  const to = nodeOf(address) === 'a' ? 'b' : 'a'
  await stage.client.create(endpointSlices, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'default', name: 'local-1', labels: { 'kubernetes.io/service-name': 'local' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.244.0.1'], nodeName: to, conditions: { ready: true } }],
    ports: [{ name: '', port: 80, protocol: 'TCP' }],
  })
  await leadsTo(address, (node) => node === to)
})

test('an address that a person moves to another node stays there; on a strange server it does not', async () => {
  const address = await shows('s1')
  const id = stage.reserved().find((one) => one.address === address)?.id ?? ''
  const stranger = control.devices.add({ hostname: 'no-node' })
  control.reservations.assign(id, String(stranger['id']))
  await product.stop()
  product = await stage.startSwept({ env: settings })
  await leadsTo(address)
  const to = nodeOf(address) === 'a' ? 'b' : 'a'
  control.reservations.assign(id, machines.get(to))
  await product.stop()
  product = await stage.startSwept({ env: settings })
  await stage.create(loadBalancer('after-restart'))
  await shows('after-restart')
  assert.is(nodeOf(address), to)
})

test('a deleted Service has its address taken from the server first, then its reservation is deleted', async () => {
  const address = await shows('s2')
  control.calls.clear()
  await stage.run('delete', 'service', 's2', '--timeout=60s')
  await stage.gone('s2')
  assert.not(isReserved(address))
  const writes = control.calls.all().filter(({ method }) => method !== 'GET')
  assert.equal(
    writes.map(({ route }) => route),
    ['POST /floating_ips/{id}/actions/unassign', 'DELETE /floating_ips/{id}'],
  )
})

test('a retained address is taken from its server, and the next Service has it again', async () => {
  const manifest = loadBalancer('kept', { annotations: { [reclaim]: 'Retain' } })
  await stage.create(manifest)
  const address = await shows('kept')
  await stage.run('delete', 'service', 'kept', '--timeout=60s')
  await eventually(
    'it is Released',
    async () => (await stage.record('kept'))?.status?.phase === 'Released' || undefined,
  )
  assert.is(nodeOf(address), undefined)
  await stage.create(manifest)
  assert.is(await shows('kept'), address)
  await leadsTo(address)
})

test('the next Service of a name whose retained address was moved gets another one', async () => {
  const manifest = loadBalancer('moved', { annotations: { [reclaim]: 'Retain' } })
  await stage.create(manifest)
  const address = await shows('moved')
  await stage.run('delete', 'service', 'moved', '--timeout=60s')
  const { status } = await eventually('it is Released', async () => {
    const record = await stage.record('moved')
    return record?.status?.phase === 'Released' ? record : undefined
  })
  await stage.kubectl(['apply', '-f', '-'], provisioned('lot', status?.reservationID ?? ''))
  await stage.run('delete', 'eip', 'default.moved', '--timeout=60s')
  await stage.run('wait', 'eip', 'lot', '--for=jsonpath={.status.phase}=Available', '--timeout=60s')
  const { spec } = await stage.create(loadBalancer('moved'))
  assert.match(spec.loadBalancerIP ?? '', /^203\.0\.113\./)
  assert.is.not(spec.loadBalancerIP, address)
  assert.ok(isReserved(address))
})

test('a cloud that is busy, and an action that fails late, delay a move and lose nothing', async () => {
  control.setActions({ ms: 300, error: { code: 'unknown_error', message: 'server is locked' } })
  const { spec } = await stage.create(loadBalancer('busy'))
  await eventually('it was tried', () => control.calls.count('POST /floating_ips/{id}/actions/assign') > 0 || undefined)
  control.setActions({ ms: 300, error: null })
  assert.is(await shows('busy'), spec.loadBalancerIP)
  await leadsTo(spec.loadBalancerIP)
})

test('doctor reads where the provider leads the addresses', async () => {
  const { cloud, project, token, controlPlane } = stage
  const place = ['--cloud-provider=hetzner', `--base-url=${cloud.url}`, `--kubeconfig=${controlPlane.kubeconfig}`]
  const env = { ...dialects.hetzner.env({ url: cloud.url, project, token }), ...settings }
  const { stdout } = await typed(['doctor', ...place, '-o', 'json'], env)
  const { results } = JSON.parse(stdout) as { results: Result[] }
  assert.equal(
    results.filter(({ check }) => ['assigned-addresses', 'cloud-access'].includes(check)).map(({ level }) => level),
    ['ok', 'ok'],
  )
})

test('mistakes are refused in the words of this cloud', async () => {
  const { code, stderr } = await stage.kubectl(
    ['create', '-f', '-'],
    loadBalancer('typo', { annotations: { [location]: 'hell' } }),
  )
  assert.is(code, 1)
  assert.match(stderr, '"hell" is not a known location; did you mean "hel1"?')
  control.quota.set(0)
  const refused = await stage.kubectl(['create', '-f', '-'], loadBalancer('refused'))
  control.quota.set(200)
  assert.match(refused.stderr, /Floating IP limit exceeded \(resource_limit_exceeded\); .*raised in the console/)
  assert.is(await stage.service('refused'), undefined)
})

test('while another cluster uses the id no address leaves its node, and the Service gets an Event', async () => {
  const address = await shows('first')
  const from = nodeOf(address) ?? ''
  await product.stop()
  const ledger = ['configmap', 'eip-admission-ledger', '-n', 'eip-admission']
  const data = { 'foreign-sign': 'a-sign-of-theirs', 'foreign-alive': 'true' }
  await stage.run('patch', ...ledger, '--type=merge', '-p', JSON.stringify({ data }))
  await say(from, 'Unknown')
  product = await stage.start({ env: { ...settings, EIP_SWEEP_INTERVAL: '2s' } })
  const words = `address ${address}: it stays where it is: another cluster uses the cluster id`
  await eventually('an Event says it', async () => (await eventsOf('first')).includes(words) || undefined)
  assert.is(nodeOf(address), from)
  await stage.run('annotate', ...ledger, 'eip-admission.dev/confirm-cluster=a-sign-of-theirs')
  await leadsTo(address, (node) => node !== from)
  await say(from, 'True')
})

test('with a token of another project nothing is reserved or written off, and the words say what to do', async () => {
  await product.stop()
  const before = stage.reserved().map(({ id }) => id)
  product = await stage.start({ env: { ...settings, HCLOUD_TOKEN: other.token } })
  const { code, stderr } = await stage.kubectl(['create', '-f', '-'], loadBalancer('foreign'))
  assert.is(code, 0)
  assert.match(stderr, /the project of the token \(HCLOUD_TOKEN or .*\) has none of them: nothing is reserved/)
  assert.match(stderr, /restore .* token in the settings/)
  assert.equal(
    stage.reserved().map(({ id }) => id),
    before,
  )
  await product.stop()
  product = await stage.startSwept({ env: settings })
  await leadsTo(await shows('foreign'))
  assert.is(stage.reserved().length, before.length + 1)
})

test.after(() => stage.close(accounts.cloud))

test.run()
