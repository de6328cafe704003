// The peculiarities of a cluster at phoenixNAP: a token that expires, one peer group for all servers, and 403 for
// deleted objects.
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { events as eventResource } from '../../kube/resource.ts'
import { dialects } from '../../sandbox/dialects.ts'
import type { Product } from '../../sandbox/product.ts'
import { typed } from './command-line.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { callPhoenixnap } from './phoenixnap-api.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage({ dialect: 'phoenixnap' })
const { cloud, project, token } = stage
const { calls, devices, faults, peerGroups, tokens, access } = cloud.control
const { events, node, register, seen, startNode } = simulatedNodes(stage)
const account = { url: cloud.url, project, token }
const refresh = '--peer-refresh-interval=10s'
const file = join(stage.dir, 'cloud-sa.json')

/** Replaces the configuration file atomically. */
function write(clientSecret: string): void {
  writeFileSync(`${file}.next`, JSON.stringify({ clientID: project, clientSecret, location: 'PHX' }))
  renameSync(`${file}.next`, file)
}
write(token)
const fromFile = { PNAP_CLIENT_ID: '', PNAP_CLIENT_SECRET: '', PNAP_LOCATION: '' }
const flags = [`--cloud-config=${file}`, refresh]
const says = (name: string, text: string) =>
  eventually(`an Event says "${text}"`, async (observe) => observe(await events(name)).includes(text) || undefined)
const peersOf = async (name: string) => {
  const { annotations = {} } = (await node(name))?.metadata ?? {}
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => key.startsWith('phoenixnap.com/')))
}
let product: Product

test('what the provider cannot do is refused at the start', async () => {
  const { env } = dialects.phoenixnap
  const serve = ['serve', '--cloud-provider=phoenixnap', `--base-url=${cloud.url}`]
  const assigned = await typed(serve, { ...env(account), PNAP_LOAD_BALANCER: 'assign:///' })
  assert.is(assigned.code, 1)
  assert.match(assigned.stderr, 'assign needs addresses that are assigned to machines, which this cloud does not offer')
  const guarded = await typed(
    [...serve, '--only=control-plane', `--kubeconfig=${stage.controlPlane.kubeconfig}`],
    env(account),
  )
  assert.is(guarded.code, 1)
  assert.match(guarded.stderr, 'phoenixNAP does not move addresses between machines')
})

test('without a peer group, and without the setting to create one, a node has no peers and an Event says why', async () => {
  product = await stage.start({ env: { ...fromFile, PNAP_CREATE_PEER_GROUP: 'false' }, flags })
  await startNode('a')
  await says('a', 'location PHX has no BGP peer group')
  await says('a', 'PNAP_CREATE_PEER_GROUP=true')
  assert.equal(peerGroups.all(), [])
  const { spec } = await stage.create(loadBalancer('web'))
  assert.match(spec.loadBalancerIP ?? '', /^203\.0\.113\.\d*[13579]$/)
})

test('the peer group that a person creates counts, once it has its number', async () => {
  cloud.control.setChanges({ ms: 3_600_000 })
  const path = '/networks/v1/bgp-peer-groups'
  await callPhoenixnap(account, 'POST', { path, body: { location: 'PHX', asn: 65_010, advertisedRoutes: 'NONE' } })
  calls.clear()
  await eventually('it is read', () => calls.count(`GET ${path}`) > 1 || undefined)
  assert.equal(await peersOf('a'), {})
  const [{ id, password } = {}] = peerGroups.all()
  peerGroups.settle(String(id))
  await seen('it shows two routers', 'a', (one) => {
    const { annotations = {} } = one?.metadata ?? {}
    return annotations['phoenixnap.com/bgp-peers-1-peer-ip'] === '169.254.247.1' || undefined
  })
  const shown = await peersOf('a')
  assert.is(shown['phoenixnap.com/bgp-peers-0-node-asn'], '65010')
  assert.is(shown['phoenixnap.com/bgp-peers-0-peer-multi-hop'], 'true')
  // Only kube-vip reads the password there.
  assert.not.match(JSON.stringify(shown), 'bgp-pass')
  assert.not.match(JSON.stringify(shown), String(password))
  cloud.control.setChanges({ ms: 0 })
})

test('a server in another location gets no peers, and its node an Event', async () => {
  const far = devices.add({ hostname: 'far', location: 'ASH' })
  await register('far', { providerID: `phoenixnap://${String(far['id'])}` })
  await says('far', 'is in ASH, whose routers know no address of PHX')
  assert.equal(await peersOf('far'), {})
})

test('a 403 for one server removes no node while the list has it, and a server that no longer exists takes its node', async () => {
  const id = String(devices.add({ hostname: 'b' })['id'])
  await register('b', { providerID: `phoenixnap://${id}` })
  await seen(
    'it is initialized',
    'b',
    (one) => one?.metadata.labels?.['topology.kubernetes.io/region'] === 'PHX' || undefined,
  )
  await stage.run('taint', 'node', 'b', 'node.kubernetes.io/unreachable=:NoSchedule')
  faults.add({ on: 'GET /bmc/v1/servers/*', answer: 403 })
  await simulatedNodes(stage).say('b', 'Unknown')
  calls.clear()
  await eventually('it is asked for twice', () => calls.count('GET /bmc/v1/servers/{id}') > 1 || undefined)
  assert.ok(await node('b'))
  faults.clear()
  devices.remove(id)
  await eventually('its node no longer exists', async () => (await node('b')) === undefined || undefined)
})

test('an access token that ends early is renewed, and a rotated secret is used without a restart', async () => {
  access.endTokens()
  assert.ok((await stage.create(loadBalancer('after-the-token'))).spec.loadBalancerIP)
  tokens.add({ token: 'the-rotated-secret', label: 'rotated' })
  write('the-rotated-secret')
  await eventually('a call with it', () => calls.all().some(({ caller }) => caller === 'rotated') || undefined)
  await eventually('it is taken up', async () => !(await product.health('/readyz')).text.includes(file) || undefined)
  tokens.revoke('sandbox')
  calls.clear()
  assert.ok((await stage.create(loadBalancer('after-the-secret'))).spec.loadBalancerIP)
  assert.equal([...new Set(calls.all('POST /ips/v1/ip-blocks').map(({ caller }) => caller))], ['rotated'])
})

test('a peer group on hold is an Event about each Service, which keeps its address', async () => {
  peerGroups.setStatus('PHX', 'ON_HOLD')
  await product.stop()
  product = await stage.start({ env: fromFile, flags })
  const [{ message } = {}] = await eventually('the first sweep reports it', async () => {
    const { items } = await stage.client.list(eventResource, { fieldSelector: 'involvedObject.name=web' })
    const found = items.filter(({ reason }) => reason === 'AddressImpaired')
    return found.length > 0 ? found : undefined
  })
  assert.match(message ?? '', 'the status of the BGP peer group of PHX is ON_HOLD. The Service keeps it')
})

test('a location without blocks refuses with words, and the Service of before keeps its address', async () => {
  cloud.control.setStock({ location: 'PHX', blocks: 0 })
  const { code, stderr } = await stage.kubectl(['create', '-f', '-'], loadBalancer('none-left'))
  assert.is(code, 1)
  assert.match(stderr, 'No IP Blocks available of provided cidr block size; delete IP blocks that are not needed')
  await stage.run('delete', 'service', 'web', '--timeout=120s')
  await stage.gone('web')
  assert.is(calls.all('DELETE /ips/v1/ip-blocks/{id}').length, 1)
})

test.after(() => stage.close())

test.run()
