// BGP of a project and its nodes, even while the cloud loses settings, refuses, fails or hangs.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Product } from '../../sandbox/product.ts'
import { eventually } from '../whole/eventually.ts'
import { type Device, type Started, ipOf, simulatedNodes } from '../whole/simulated-nodes.ts'
import { peersKept } from '../whole/peers-kept.ts'
import { dialect, openStage } from './dialect.ts'

const stage = await openStage()
const { device, register, say, seen, node, events } = simulatedNodes(stage)
const { devices, faults, calls } = stage.cloud.control
const { secret, kept, keeps, damage } = peersKept(stage)
const { bgp, scheme } = dialect
const settings = { ...dialect.here, [dialect.loadBalancer]: 'empty://' }

let product: Product | undefined
async function run(env: Record<string, string> = {}, ...flags: string[]): Promise<void> {
  await product?.stop()
  product = await stage.start({ env: { ...settings, ...env }, flags })
}

/** Starts a machine and registers its node. */
const machines = new Map<string, Device>()
async function startNode(name: string, started: Started = {}): Promise<Device> {
  const machine = device(name)
  machines.set(name, machine)
  await register(name, started)
  return machine
}

type Annotations = Record<string, string>

const ours = (annotations: Annotations = {}): Annotations =>
  Object.fromEntries(Object.entries(annotations).filter(([name]) => name.startsWith(dialect.prefix)))
const annotations = async (name: string) => ours((await node(name))?.metadata.annotations)
const waitForAnnotations = (name: string, is: (actual: Annotations) => boolean) =>
  seen('its annotations are right', name, (one) => one !== undefined && is(ours(one.metadata.annotations)))
const waitForNoAnnotations = (name: string) => waitForAnnotations(name, (actual) => Object.keys(actual).length === 0)

/** Only the annotations about sessions. */
const sessionsIn = (actual: Annotations): Annotations =>
  Object.fromEntries(Object.entries(actual).filter(([name]) => name !== bgp.networkAnnotation))
const sessionsOf = (name: string) => bgp.says(ipOf(machines.get(name) ?? { id: '', ip_addresses: [] }, 4, bgp.source))
const waitForPeers = (name: string) =>
  waitForAnnotations(name, (actual) => isDeepStrictEqual(sessionsIn(actual), sessionsOf(name)))
/** Waits until every node shows its peers, and the Secret keeps them. */
const waitUntilSettled = async () => {
  for (const name of machines.keys()) {
    await waitForAnnotations(
      name,
      (actual) => isDeepStrictEqual(sessionsIn(actual), sessionsOf(name)) && hasNetwork(actual),
    )
    await keeps(name)
  }
  await eventually('so are the networks', async () => {
    const text = await kept()
    return text.split('"node":').length === text.split('"privateNetwork":').length || undefined
  })
}
const hasNetwork = (actual: Annotations) =>
  bgp.networkAnnotation === undefined || actual[bgp.networkAnnotation] !== undefined
const [edited = ''] = Object.keys(bgp.says(''))

const bgpCalls = () => Object.entries(calls.counts()).filter(([route]) => bgp.isAbout.test(route))
const waitForCall = (again = '') => {
  calls.clear()
  return eventually(`the provider is called${again}`, () => bgpCalls().length > 0 || undefined)
}

test('a replica with --only=webhooks does not enable BGP', async () => {
  await run({}, '--only=webhooks')
  await register('early', { providerID: `${scheme}${device('early').id}` })
  await sleep(1000)
  assert.equal(bgpCalls(), [])
  await stage.run('delete', 'node', 'early')
})

test('without a load balancer there is no BGP', async () => {
  await run({ [dialect.loadBalancer]: 'none' })
  await startNode('off')
  await seen('it is initialized', 'off', (one) => one?.spec.providerID)
  await sleep(1000)
  assert.equal([bgpCalls(), await annotations('off')], [[], {}])
})

test('BGP is enabled for the project and a node before any Service exists, and the node shows its peers', async () => {
  await run()
  await startNode('first')
  await waitForPeers('first')
  const { [bgp.networkAnnotation ?? '']: network } = await annotations('first')
  if (bgp.networkAnnotation !== undefined) assert.match(network ?? '', /^10\.[\d.]+\/\d+$/)
  await waitForPeers('off')
  await keeps('first')
})

test('a field manager of its own applies the peer annotations and nothing else', async () => {
  const text = await stage.run('get', 'node', 'first', '-o', 'json', '--show-managed-fields')
  const { metadata } = JSON.parse(text) as {
    metadata: { managedFields: { manager: string; operation: string; fieldsV1: object }[] }
  }
  const [field, ...others] = metadata.managedFields.filter(({ manager }) => manager === 'eip-admission-peering')
  assert.equal([field?.operation, others], ['Apply', []])
  const owned = field?.fieldsV1 as { 'f:metadata': { 'f:annotations': object } }
  assert.equal([Object.keys(owned), Object.keys(owned['f:metadata'])], [['f:metadata'], ['f:annotations']])
  const names = Object.keys(await annotations('first')).map((name) => `f:${name}`)
  assert.equal(Object.keys(owned['f:metadata']['f:annotations']).toSorted(), names.toSorted())
})

test('edited and removed annotations are restored and stray ones removed, without a call to the provider', async () => {
  const before = await annotations('first')
  const [last = ''] = Object.keys(sessionsOf('first')).toReversed()
  // If names are numbered: the annotations of a session that does not exist.
  const strays = Object.keys(before).flatMap((name) => (/-1-/.test(name) ? [name.replace('-1-', '-7-')] : []))
  calls.clear()
  const edits = [edited, ...strays].map((name) => `${name}=192.0.2.1`)
  await stage.run('annotate', '--overwrite', 'node', 'first', ...edits, 'mine=kept')
  await stage.run('annotate', 'node', 'first', `${last}-`)
  await waitForAnnotations('first', (actual) => isDeepStrictEqual(actual, before))
  assert.is((await node('first'))?.metadata.annotations?.['mine'], 'kept')
  assert.equal(bgpCalls(), [])
})

test('a node that changes its readiness causes no call to the provider', async () => {
  calls.clear()
  for (const ready of ['Unknown', 'True', 'False', 'True'] as const) {
    await say('first', ready)
    await sleep(250)
  }
  assert.equal(bgpCalls(), [])
})

test("another cloud's node is never touched", async () => {
  await register('foreign', { providerID: 'aws:///eu-west-1a/i-0123456789' })
  await stage.run('annotate', 'node', 'foreign', `${edited}=192.0.2.1`)
  await startNode('after-foreign')
  await waitForPeers('after-foreign')
  assert.equal(await annotations('foreign'), { [edited]: '192.0.2.1' })
})

test('nothing is kept of the peers of a deleted node', async () => {
  const { id } = await startNode('mortal')
  await waitForPeers('mortal')
  await keeps('mortal')
  devices.remove(id)
  machines.delete('mortal')
  await stage.run('delete', 'node', 'mortal')
  await keeps('mortal', false)
})

const { nodeSelector } = bgp
if (nodeSelector !== undefined) {
  test('the node selector decides which nodes have peers, when it changes and when a label changes', async () => {
    await run({ [nodeSelector]: 'role in (edge)' })
    for (const name of ['first', 'off', 'after-foreign']) await waitForNoAnnotations(name)
    await keeps('first', false)
    assert.is((await node('first'))?.metadata.annotations?.['mine'], 'kept')
    await stage.run('label', 'node', 'first', 'role=edge')
    await waitForPeers('first')
    assert.equal(await annotations('off'), {})
    await stage.run('label', 'node', 'first', 'role-')
    await waitForNoAnnotations('first')
    await run()
    for (const name of ['first', 'off', 'after-foreign']) await waitForPeers(name)
  })
}

const quick = ['--peer-refresh-interval=1s', '--cloud-timeout=2s']

test('BGP that another tool disabled on a machine is enabled again', async () => {
  await run({}, ...quick)
  calls.clear()
  await bgp.takeAway(stage, String(machines.get('first')?.id))
  await eventually('it is made again', () => calls.count(bgp.enabling) || undefined)
  await waitForPeers('first')
})

const { noRouters } = bgp
if (noRouters !== undefined) {
  test('peers that the provider no longer lists are removed, and added when it lists them again', async () => {
    faults.add(noRouters)
    await waitForAnnotations('first', (actual) => Object.keys(sessionsIn(actual)).length === 0)
    await eventually('no peers are kept', async () => (await kept()).includes('"peers":[]') || undefined)
    faults.clear()
    for (const name of machines.keys()) await waitForPeers(name)
    await eventually('they are kept', async () => !(await kept()).includes('"peers":[]') || undefined)
  })
}

const troubles: { what: string; answer: Parameters<typeof faults.add>[0]['answer'] }[] = [
  { what: 'refuses the key', answer: 401 },
  { what: 'is broken', answer: 500 },
  { what: 'hangs', answer: 'hang' },
]
for (const { what, answer } of troubles) {
  test(`a cloud that ${what} has no peer removed, before and after a restart`, async () => {
    await waitUntilSettled()
    const before = [await annotations('first'), await kept()]
    const { resourceVersion } = (await secret())?.metadata ?? {}
    for (const on of bgp.paths) faults.add({ on, answer })
    await waitForCall()
    await run({}, ...quick)
    await waitForCall(' again')
    await sleep(2500)
    assert.equal([await annotations('first'), await kept()], before)
    assert.is((await secret())?.metadata.resourceVersion, resourceVersion)
    await stage.run('annotate', '--overwrite', 'node', 'first', `${edited}=192.0.2.1`)
    await waitForAnnotations('first', (actual) => actual[edited] === sessionsOf('first')[edited])
    faults.clear()
  })
}

test('a damaged Secret is written again, and no annotation is removed meanwhile', async () => {
  await waitUntilSettled()
  const before = [await annotations('first'), await kept()]
  const damages = [null, Buffer.from('no gzip').toString('base64'), gzipSync('[{"node":1}]').toString('base64')]
  for (const data of damages) {
    await product?.stop()
    await damage(data)
    await run()
    await eventually('it is made again', async () => ((await kept().catch(() => '')) === before[1] ? true : undefined))
    assert.equal(await annotations('first'), before[0])
  }
})

test('a node without a machine gets an Event PeeringFailed', async () => {
  await register('lost', { providerID: bgp.unknownMachine, cloudProvider: 'internal' })
  await eventually('an Event says it', async () => (await events('lost')).includes('PeeringFailed') || undefined)
})

const { localAsn } = bgp
if (localAsn !== undefined) {
  test('a project that has BGP keeps its ASN, and the log warns once of a differing setting', async () => {
    await run({ [localAsn]: '65001' })
    const found = () => readFileSync(stage.logOf('eip-admission'), 'utf8').match(/its ASN is 65000 and not 65001/g)
    await eventually('the log says it', () => found() !== null || undefined)
    await waitForPeers('first')
    assert.is(found()?.length, 1)
  })
}

test.after(() => stage.close())

test.run()
