// BGP on a project and on nodes as kubelets register them, and a cloud that forgets, refuses, breaks and hangs.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Secret } from '../../kube/objects.ts'
import type { Product } from '../../sandbox/product.ts'
import { eventually } from './eventually.ts'
import { kubelets } from './kubelet.ts'
import { openWorld } from './world.ts'

const world = await openWorld()
const { register, say, seen, node, events } = kubelets(world)
const { devices, faults, calls } = world.cloud.door
const password = 'Secret12345abc'
const shown = Buffer.from(password).toString('base64')
const prefix = 'metal.equinix.com'
const settings = { METAL_METRO_NAME: 'da', METAL_BGP_PASS: password }

let product: Product | undefined
async function run(env: Record<string, string> = {}, ...flags: string[]): Promise<Product> {
  await product?.stop()
  product = await world.start({ env: { ...settings, ...env }, flags })
  return product
}

type Device = { id: string; ip_addresses: { address: string; public: boolean }[] }
type Started = NonNullable<Parameters<typeof register>[1]>

/** A device and its node, as they come up. */
async function comesUp(name: string, started: Started = {}): Promise<Device> {
  const device = devices.add({ hostname: name }) as unknown as Device
  await register(name, started)
  return device
}

const ours = (annotations: Record<string, string> = {}) =>
  Object.fromEntries(Object.entries(annotations).filter(([name]) => name.startsWith(`${prefix}/`)))
const annotations = async (name: string) => ours((await node(name))?.metadata.annotations)
const says = (name: string, is: (annotations: Record<string, string>) => boolean) =>
  seen('its annotations are right', name, (one) => one !== undefined && is(ours(one.metadata.annotations)))
const hasPeers = (count: number) => (said: Record<string, string>) =>
  Object.keys(said).filter((name) => name.endsWith('-peer-ip')).length === count
const saysPeers = (name: string) => says(name, hasPeers(2))
const saysNothing = (name: string) => says(name, (said) => Object.keys(said).length === 0)

const secret = async (): Promise<Secret | undefined> => {
  const args = ['get', 'secret', 'eip-admission-peers', '-n', 'eip-admission', '--ignore-not-found', '-o', 'json']
  const text = await world.must(...args)
  return text === '' ? undefined : (JSON.parse(text) as Secret)
}
const kept = async () => {
  const packed = (await secret())?.data?.['peers.json.gz']
  return packed === undefined ? '' : gunzipSync(Buffer.from(packed, 'base64')).toString()
}
const keeps = (name: string, isKept = true) =>
  eventually(`${name} is ${isKept ? '' : 'not '}kept`, async () => {
    return (await kept()).includes(`"node":"${name}"`) === isKept || undefined
  })
const bgpCalls = () => Object.entries(calls.counts()).filter(([route]) => route.includes('bgp'))
const log = () => readFileSync(world.logOf('eip-admission'), 'utf8')

test('a replica that only answers reviews turns nothing on', async () => {
  await run({}, '--only=webhooks')
  await comesUp('early', { providerID: 'equinixmetal://0b9c6f1e-6c1d-4d0e-8f55-0a3c5a1b2c3d' })
  await sleep(1000)
  assert.equal(bgpCalls(), [])
  await world.must('delete', 'node', 'early')
})

test('without a load balancer there is no BGP', async () => {
  await run({ METAL_LOAD_BALANCER: '' })
  await comesUp('off')
  await seen('it is initialized', 'off', (one) => one?.spec.providerID)
  await sleep(1000)
  assert.equal([bgpCalls(), await annotations('off')], [[], {}])
})

test('BGP is on for the project and for a node before there is any Service, and the node says its peers', async () => {
  await run()
  const { ip_addresses } = await comesUp('first')
  await saysPeers('first')
  const source = ip_addresses.find((one) => !one.public)?.address ?? ''
  const { [`${prefix}/network-4-private`]: network = '', ...peers } = await annotations('first')
  assert.equal(peers, {
    [`${prefix}/bgp-peers-0-node-asn`]: '65000',
    [`${prefix}/bgp-peers-1-node-asn`]: '65000',
    [`${prefix}/bgp-peers-0-peer-asn`]: '65530',
    [`${prefix}/bgp-peers-1-peer-asn`]: '65530',
    [`${prefix}/bgp-peers-0-peer-ip`]: '169.254.255.1',
    [`${prefix}/bgp-peers-1-peer-ip`]: '169.254.255.2',
    [`${prefix}/bgp-peers-0-src-ip`]: source,
    [`${prefix}/bgp-peers-1-src-ip`]: source,
    [`${prefix}/bgp-peers-0-bgp-pass`]: shown,
    [`${prefix}/bgp-peers-1-bgp-pass`]: shown,
  })
  assert.match(network, /^10\.[\d.]+\/\d+$/)
  await saysPeers('off')
  await keeps('first')
})

test('our annotations are applied by a manager of their own, and nothing else is', async () => {
  const text = await world.must('get', 'node', 'first', '-o', 'json', '--show-managed-fields')
  const { metadata } = JSON.parse(text) as {
    metadata: { managedFields: { manager: string; operation: string; fieldsV1: object }[] }
  }
  const [field, ...others] = metadata.managedFields.filter(({ manager }) => manager === 'eip-admission-peering')
  assert.equal([field?.operation, others], ['Apply', []])
  const owned = field?.fieldsV1 as { 'f:metadata': { 'f:annotations': object } }
  assert.equal([Object.keys(owned), Object.keys(owned['f:metadata'])], [['f:metadata'], ['f:annotations']])
  assert.is(Object.keys(owned['f:metadata']['f:annotations']).length, 11)
})

test('an edited annotation and one that was taken away come back, and a stray one goes, without a call', async () => {
  const before = await annotations('first')
  calls.clear()
  const stray = [`${prefix}/bgp-peers-0-peer-ip=192.0.2.1`, `${prefix}/bgp-peers-7-peer-ip=192.0.2.1`, 'mine=kept']
  await world.must('annotate', '--overwrite', 'node', 'first', ...stray)
  await world.must('annotate', 'node', 'first', `${prefix}/bgp-peers-1-peer-asn-`)
  await says('first', (said) => isDeepStrictEqual(said, before))
  assert.is((await node('first'))?.metadata.annotations?.['mine'], 'kept')
  assert.equal(bgpCalls(), [])
})

test('a node that is not ready for a while costs no call', async () => {
  calls.clear()
  for (const ready of ['Unknown', 'True', 'False', 'True'] as const) {
    await say('first', ready)
    await sleep(250)
  }
  assert.equal(bgpCalls(), [])
})

test("another cloud's node is never touched", async () => {
  const stray = { [`${prefix}/bgp-peers-0-peer-ip`]: '192.0.2.1' }
  await register('foreign', { providerID: 'aws:///eu-west-1a/i-0123456789' })
  await world.must('annotate', 'node', 'foreign', `${prefix}/bgp-peers-0-peer-ip=192.0.2.1`)
  await comesUp('after-foreign')
  await saysPeers('after-foreign')
  assert.equal(await annotations('foreign'), stray)
})

test('a node that is deleted is forgotten', async () => {
  const { id } = await comesUp('mortal')
  await saysPeers('mortal')
  await keeps('mortal')
  devices.remove(id)
  await world.must('delete', 'node', 'mortal')
  await keeps('mortal', false)
})

test('a selector that changes, and a label that changes, take nodes in and out', async () => {
  await run({ METAL_BGP_NODE_SELECTOR: 'role in (edge)' })
  for (const name of ['first', 'off', 'after-foreign']) await saysNothing(name)
  await keeps('first', false)
  assert.is((await node('first'))?.metadata.annotations?.['mine'], 'kept')
  await world.must('label', 'node', 'first', 'role=edge')
  await saysPeers('first')
  assert.equal(await annotations('off'), {})
  await world.must('label', 'node', 'first', 'role-')
  await saysNothing('first')
  await run()
  for (const name of ['first', 'off', 'after-foreign']) await saysPeers(name)
})

test('what changes in the cloud is picked up: peers that are no more go, and come back', async () => {
  await run({}, '--peer-refresh-interval=2s')
  faults.add({ on: 'GET /devices/*/bgp/neighbors', answer: 'empty-list' })
  await says('first', hasPeers(0))
  await eventually('no peers are kept', async () => (await kept()).includes('"peers":[]') || undefined)
  faults.clear()
  await saysPeers('first')
})

test('what changes in the cloud is picked up: a session that is gone is made again', async () => {
  calls.clear()
  await removeSessions('first')
  await eventually('it is made again', () => calls.count('POST /devices/{id}/bgp/sessions') || undefined)
  await saysPeers('first')
})

const troubles: { what: string; answer: Parameters<typeof faults.add>[0]['answer'] }[] = [
  { what: 'refuses the key', answer: 401 },
  { what: 'is broken', answer: 500 },
  { what: 'hangs', answer: 'hang' },
]
for (const { what, answer } of troubles) {
  test(`a cloud that ${what} takes nothing back, while we run and after a restart`, async () => {
    const quick = ['--peer-refresh-interval=1s', '--cloud-timeout=2s']
    await run({}, ...quick)
    const before = [await annotations('first'), await kept()]
    const { resourceVersion } = (await secret())?.metadata ?? {}
    // Not the places, which a start waits for.
    for (const on of ['/projects/*/bgp-config', '/projects/*/bgp/sessions', '/devices/**']) faults.add({ on, answer })
    calls.clear()
    await eventually('the cloud was asked', () => bgpCalls().length > 0 || undefined)
    await run({}, ...quick)
    calls.clear()
    await eventually('the cloud was asked again', () => bgpCalls().length > 0 || undefined)
    await sleep(2500)
    assert.equal([await annotations('first'), await kept()], before)
    assert.is((await secret())?.metadata.resourceVersion, resourceVersion)
    await world.must('annotate', '--overwrite', 'node', 'first', `${prefix}/bgp-peers-0-peer-ip=192.0.2.1`)
    await says('first', (said) => said[`${prefix}/bgp-peers-0-peer-ip`] === '169.254.255.1')
    faults.clear()
  })
}

test('a Secret that is damaged is made anew, and takes nothing back meanwhile', async () => {
  const before = [await annotations('first'), await kept()]
  const damages = ['?', Buffer.from('no gzip').toString('base64'), gzipSync('[{"node":1}]').toString('base64')]
  for (const damage of damages) {
    await product?.stop()
    const data = damage === '?' ? null : { 'peers.json.gz': damage }
    const patch = JSON.stringify({ data })
    await world.must('patch', 'secret', 'eip-admission-peers', '-n', 'eip-admission', '--type=merge', '-p', patch)
    await run()
    await eventually('it is made anew', async () => ((await kept().catch(() => '')) === before[1] ? true : undefined))
    assert.equal(await annotations('first'), before[0])
  }
})

test('MetalLB gets no password by annotation, and one that was there goes', async () => {
  await run({ METAL_LOAD_BALANCER: 'metallb:///' })
  await says('first', (said) => hasPeers(2)(said) && !JSON.stringify(said).includes(shown))
})

test('older annotations that kube-vip would believe go, names can be chosen', async () => {
  await world.must('annotate', 'node', 'first', `${prefix}/peer-ip=192.0.2.1`, `${prefix}/else=kept`)
  await run({ METAL_LOAD_BALANCER: 'kube-vip://', METAL_ANNOTATION_SRC_IP: 'example.com/source-{{n}}' })
  await says('first', (said) => said[`${prefix}/peer-ip`] === undefined && said[`${prefix}/else`] === 'kept')
  const all = (await node('first'))?.metadata.annotations ?? {}
  assert.ok(all['example.com/source-1'])
  assert.is(all[`${prefix}/bgp-peers-0-bgp-pass`], shown)
})

test('a project that has BGP keeps its own, and it is said once', async () => {
  await run({ METAL_LOCAL_ASN: '65001', METAL_BGP_PASS: 'Another12345' })
  await eventually('it is said', () => /its ASN is 65000 and not 65001/.test(log()) || undefined)
  assert.is(log().match(/its ASN is 65000 and not 65001/g)?.length, 1)
  await saysPeers('first')
  assert.is((await annotations('first'))[`${prefix}/bgp-peers-0-node-asn`], '65000')
})

test('a node without a machine says what is wrong', async () => {
  await run()
  const lost = 'equinixmetal://3d1f7f0a-8a6f-4a3c-b7a4-52c0d9e8f711'
  await register('lost', { providerID: lost, cloudProvider: 'internal' })
  await eventually('it is said', async () => (await events('lost')).includes('PeeringFailed') || undefined)
})

test('no password is in a log or an event', async () => {
  for (const text of [log(), await world.must('get', 'events', '-A', '-o', 'json')]) {
    assert.not(text.includes(password))
    assert.not(text.includes(shown))
    assert.not(text.includes('Another12345'))
  }
  world.checkLog()
})

test('what was run is taken down', () => world.stop())

/** A person takes the sessions of a device away. */
async function removeSessions(hostname: string): Promise<void> {
  const { id } = devices.all().find((one) => one['hostname'] === hostname) ?? {}
  const headers = { 'x-auth-token': world.token }
  const answer = await fetch(`${world.cloud.url}/devices/${String(id)}/bgp/sessions`, { headers })
  const { bgp_sessions: sessions } = (await answer.json()) as { bgp_sessions: { id: string }[] }
  for (const session of sessions) {
    const removed = await fetch(`${world.cloud.url}/bgp/sessions/${session.id}`, { method: 'DELETE', headers })
    assert.is(removed.status, 204)
  }
}

test.run()
