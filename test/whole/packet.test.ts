// A cluster that Packet's controller left behind: its tags, its annotations, its ConfigMap, its facility.
import { createHash } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ConfigMap, KubeObject } from '../../kube/objects.ts'
import type { Product } from '../../sandbox/product.ts'
import { typed } from './command-line.ts'
import { eventually } from './eventually.ts'
import { ipOf, machineRoom } from './kubelet.ts'
import { loadBalancer } from './manifests.ts'
import { openWorld, routes } from './world.ts'

const account = { PACKET_API_KEY: 'a-secret-token', PACKET_PROJECT_ID: 'p' }

test('without a facility and away from its machines we do not start, and say what to set', async () => {
  const { code, stderr } = await typed(
    ['serve', '--cloud-provider=packet', '--metadata-url=http://127.0.0.1:1', '--kubeconfig=/no/such/file'],
    account,
  )
  assert.is(code, 1)
  for (const word of ['--facility', 'PACKET_FACILITY_NAME', 'the field facility']) assert.match(stderr, word)
  assert.not.match(stderr, /\n\s+at |a-secret-token/)
})

const world = await openWorld()
const { comesUp, node, device } = machineRoom(world)
const host = device('host')
const env = {
  PACKET_API_KEY: world.token,
  PACKET_PROJECT_ID: world.project,
  PACKET_FACILITY_NAME: '',
  EIP_METADATA_URL: `${world.cloud.controlUrl}/devices/${host.id}/metadata-service`,
}
const flags = ['--cloud-provider=packet', '--sweep-interval=1s', '--unbound-grace=2s']

const namespace = JSON.parse(await world.must('get', 'namespace', 'kube-system', '-o', 'json')) as KubeObject
const cluster = `cluster=${namespace.metadata.uid}`
const usage = 'usage=packet-ccm-auto'
const tagOf = (key: string) => `service=${createHash('sha256').update(key).digest('base64')}`

async function reserve(tags: string[]): Promise<{ id: string; address: string }> {
  const body = JSON.stringify({ type: 'public_ipv4', quantity: 1, facility: 'da11', tags })
  const headers = { 'x-auth-token': world.token, 'content-type': 'application/json' }
  const answer = await fetch(`${world.cloud.url}/projects/${world.project}/ips`, { method: 'POST', headers, body })
  return (await answer.json()) as { id: string; address: string }
}

const ofId = (id: string) => world.reserved().find((one) => one.id === id)
const addressOf = async (name: string) => (await world.service(name))?.spec.loadBalancerIP
const hasAddress = (name: string) =>
  eventually(`${name} has an address`, async (see) => see(await addressOf(name)) || undefined)

const kept = `# mine
address-pools:
- name: by-hand
  protocol: layer2
  addresses: [10.0.0.0/24]
`
await world.must('create', 'namespace', 'metallb-system')
await world.must('create', 'configmap', 'config', '-n', 'metallb-system', `--from-literal=config=${kept}`)
const config = async () => {
  const text = await world.must('get', 'configmap', 'config', '-n', 'metallb-system', '-o', 'json')
  return (JSON.parse(text) as ConfigMap).data?.['config'] ?? ''
}
const isInConfig = (...words: string[]) =>
  eventually(`${words.join()} are in the ConfigMap`, async (see) => {
    const text = see(await config())
    return words.every((word) => text.includes(word)) || undefined
  })

const served = await reserve([usage, tagOf('default.served')])
await world.create(loadBalancer('served', { spec: { loadBalancerIP: served.address } }))
const unfinished = await reserve([usage, tagOf('default.unfinished')])
await world.create(loadBalancer('unfinished'))
const nobodys = await reserve([usage, tagOf('default.elsewhere')])
const namesake = await reserve([usage, tagOf('default.brought')])
await world.create(loadBalancer('brought', { spec: { loadBalancerIP: '192.0.2.9' } }))
const neighbours = await reserve([usage, tagOf('default.served'), 'cluster=another'])

let product: Product | undefined

test('a Service gets its address in the facility of the host, with the tags of old and the cluster', async () => {
  product = await world.startSwept({ env, flags })
  const created = await world.create(loadBalancer('web'))
  const { loadBalancerIP: address } = created.spec
  assert.ok(address)
  const held = world.reserved().find((one) => one.address === address)
  assert.is(held?.place, 'da11')
  assert.equal(held?.tags.toSorted(), [usage, tagOf('default.web'), cluster].toSorted())
})

test('MetalLB learns it by its ConfigMap, and a person’s part of that stays', async () => {
  await isInConfig(`${await addressOf('web')}/32`, 'auto-assign: false', 'protocol: bgp')
  assert.match(await config(), kept.trim())
})

test('the address of a Service that was served stays, and its reservation says whose it is', async () => {
  await eventually('it is adopted', async () => (await world.record('served'))?.status?.phase === 'Bound' || undefined)
  assert.is(await addressOf('served'), served.address)
  assert.ok(ofId(served.id)?.tags.includes(cluster))
})

test('a reservation that was made for a Service and not written down is used', async () => {
  assert.is(await hasAddress('unfinished'), unfinished.address)
  await eventually('it is marked', () => ofId(unfinished.id)?.tags.includes(cluster) || undefined)
})

test('what names no cluster and is for no Service of ours, or for one with another address, is left alone', async () => {
  const before = world.calls(routes.list)
  await eventually('three more sweeps', () => world.calls(routes.list) > before + 3 || undefined)
  for (const { id } of [nobodys, namesake]) assert.not.ok(ofId(id)?.tags.includes(cluster))
  assert.ok(ofId(neighbours.id)?.tags.includes('cluster=another'))
  assert.is(await world.record('brought'), undefined)
})

test('a node is named, placed and annotated as of old', async () => {
  const machine = await comesUp('worker')
  const annotated = await eventually('it is annotated', async (see) => {
    const found = see(await node('worker'))
    return found?.metadata.annotations?.['packet.com/peer.ips'] === undefined ? undefined : found
  })
  const { annotations = {}, labels = {} } = annotated.metadata
  assert.is(annotated.spec.providerID, `packet://${machine.id}`)
  assert.is(labels['topology.kubernetes.io/zone'], 'da11')
  assert.is(labels['topology.kubernetes.io/region'], 'da')
  const said = Object.entries(annotations).filter(([name]) => name.startsWith('packet.com/'))
  assert.equal(Object.fromEntries(said), {
    'packet.com/node.asn': '65000',
    'packet.com/peer.asns': '65530',
    'packet.com/peer.ips': '169.254.255.1,169.254.255.2',
  })
  await isInConfig('peer-address: 169.254.255.1', `source-address: ${ipOf(machine, 4, 'private')}`)
})

test('an address goes back with its Service, and out of the ConfigMap before', async () => {
  const address = await addressOf('web')
  await world.must('delete', 'service', 'web')
  await world.gone('web')
  assert.not.ok(world.reserved().some((one) => one.address === address))
  assert.not.match(await config(), `${address}/32`)
})

test('with PACKET_DISABLE_LB nodes are looked after, and no Service gets an address', async () => {
  await product?.stop()
  product = await world.start({ env: { ...env, EIP_METADATA_URL: '', PACKET_DISABLE_LB: 'true' }, flags })
  const { spec } = await world.create(loadBalancer('without'))
  assert.is(spec.loadBalancerIP, undefined)
  await comesUp('later')
})

test('the roles are enough, and no secret is in the log', async () => {
  await product?.stop()
  await world.close()
})

test.run()
