import process from 'node:process'
import { setImmediate } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcements } from '../../../announcers/announcer.ts'
import {
  type ConfigureResult,
  type FormerConfigurator,
  nothingDone,
} from '../../../controllers/announcing/configurator.ts'
import { apiVersion, ciliumResources } from '../../../announcers/cilium/resources.ts'
import { type BGPConfiguration, calicoResources } from '../../../announcers/calico/resources.ts'
import { type BGPPeer, type IPAddressPool, bgpPeers, ipAddressPools } from '../../../announcers/metallb/resources.ts'
import { announcerOf } from '../../../announcers/announcers.ts'
import { metallbObjects } from '../../../announcers/metallb/objects.ts'
import { configureObjects } from '../../../controllers/announcing/configure-objects.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { emptyFormer, formerDocument, formerObjects } from '../../../controllers/announcing/empty-former.ts'
import { KubeError } from '../../../kube/errors.ts'
import type { KubeObject, Secret } from '../../../kube/objects.ts'
import { secrets } from '../../../kube/resource.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { silentLog } from '../../fakes/log.ts'
import { marks as metallbMarks } from '../../announcers/cluster.ts'
import { makeNode } from '../../announcers/states.ts'

const marks = { label: { name: 'example.com/by', value: 'us' }, advertisement: 'adv', counting: 'example.com' }
const signal = new AbortController().signal
const address = '203.0.113.40'
const nothing: Announcements = { addresses: [], nodes: [] }
const shown: Announcements = { addresses: [{ address, services: ['default/web'] }], nodes: [] }

/** A configuration that has these addresses, and what was done to it. */
function configuration(name: string, calls: string[], has: string[] = []) {
  const world = { has, isRefused: false }
  const configurator: FormerConfigurator = {
    carryOut({ addresses }): Promise<ConfigureResult> {
      const wanted = addresses.map((one) => one.address)
      const isChanged = !world.isRefused && wanted.join() !== world.has.join()
      if (isChanged) world.has = wanted
      calls.push(`${name}: ${wanted.join() || 'nothing'}${isChanged ? ', written' : ''}`)
      return Promise.resolve({ problems: [], isChanged, isRefused: world.isRefused })
    },
    withdraw({ addresses, undecided = [] }) {
      const before = world.has
      world.has = before.filter((one) => [...addresses, ...undecided].some(({ address: of }) => of === one))
      return Promise.resolve(world.has.length < before.length)
    },
    announces: (asked) => Promise.resolve(world.has.includes(asked)),
  }
  return { world, configurator }
}

test('the configuration of now is written first, then a previous one is emptied, and looked at until it is empty', async () => {
  const calls: string[] = []
  const [now, before] = [configuration('now', calls), configuration('before', calls, [address])]
  const both = emptyFormer({ current: now.configurator, former: [before.configurator] })
  assert.is(await both.announces(address, signal), true, 'the software of before may run still')
  assert.is((await both.carryOut(shown, signal)).isChanged, true)
  assert.is((await both.carryOut(shown, signal)).isChanged, false)
  await both.carryOut(shown, signal)
  assert.equal(calls, [
    `now: ${address}, written`,
    'before: nothing, written',
    `now: ${address}`,
    'before: nothing',
    `now: ${address}`,
  ])
})

test('a previous configuration that another leader wrote again is emptied again', async () => {
  const [now, before] = [configuration('now', []), configuration('before', [], [address])]
  const both = emptyFormer({ current: now.configurator, former: [before.configurator] })
  for (let passes = 0; passes < 3; passes += 1) await both.carryOut(shown, signal)
  before.world.has = [address]
  both.begin?.()
  assert.is(await both.announces(address, signal), true)
  await both.carryOut(shown, signal)
  assert.equal(before.world.has, [])
})

test('each term waits before it interrupts sessions of the software of now: another leader may just have done so', async () => {
  const api = apiServer()
  const { client } = api
  const configuration = metallbObjects({ ...metallbMarks, peerMode: 'native' })
  const from = (sourceAddress: string) => ({ ...shown, nodes: [makeNode('a', { sourceAddress })] })
  for (const { object } of configuration.objects(from('10.0.0.5'), []).wanted)
    for (const { resource } of configuration.kinds) if (resource.kind === object.kind) api.put(resource, object)
  let nowMs = 0
  const both = emptyFormer({ current: configureObjects({ client, configuration, now: () => nowMs }), former: [] })
  const carryOut = async (sourceAddress: string) => {
    const { isUnfinished } = await both.carryOut(from(sourceAddress), signal)
    const { items } = await client.list<BGPPeer>(bgpPeers, { namespace: metallbMarks.namespace })
    return [isUnfinished, ...items.map(({ spec }) => spec.sourceAddress)]
  }
  assert.equal(await carryOut('10.0.0.5'), [undefined, '10.0.0.5', '10.0.0.5'])
  nowMs += 5000
  both.begin?.()
  nowMs += 1999
  assert.equal(await carryOut('10.0.0.6'), [true, '10.0.0.5', '10.0.0.5'])
  nowMs += 1
  assert.equal(await carryOut('10.0.0.6'), [true, '10.0.0.6', '10.0.0.5'])
})

test('while the software of now has not all that it needs, a previous configuration stays', async () => {
  const calls: string[] = []
  const [now, before] = [configuration('now', calls), configuration('before', calls, [address])]
  const both = emptyFormer({ current: now.configurator, former: [before.configurator] })
  now.world.isRefused = true
  assert.is((await both.carryOut(shown, signal)).isRefused, true)
  assert.equal(before.world.has, [address])
  now.world.isRefused = false
  await both.carryOut(shown, signal)
  assert.equal(before.world.has, [])
})

test('meanwhile it loses the address of a Service that is deleted, which its release waits for', async () => {
  const gone = '203.0.113.41'
  const [now, before] = [configuration('now', []), configuration('before', [], [address, gone])]
  const both = emptyFormer({ current: now.configurator, former: [before.configurator] })
  now.world.isRefused = true
  const { isChanged, isRefused } = await both.carryOut(shown, signal)
  assert.equal([isChanged, isRefused], [true, true])
  assert.equal(before.world.has, [address])
  assert.is(await both.announces(gone, signal), false)
  assert.is((await both.carryOut(shown, signal)).isChanged, false)
  now.world.isRefused = false
  await both.carryOut(shown, signal)
  assert.equal(before.world.has, [], 'it is emptied as ever')
})

test('meanwhile an API of a previous software that does not answer hides neither problems nor another previous one', async () => {
  const problems = [{ subject: { service: 'default/web' }, message: 'it is held' }]
  const broken: FormerConfigurator = {
    carryOut: () => Promise.reject(new Error('it is not emptied')),
    withdraw: () =>
      Promise.reject(new KubeError('the API does not answer', { status: 503, reason: 'ServiceUnavailable' })),
    announces: () => Promise.resolve(false),
  }
  const [now, before] = [configuration('now', []), configuration('before', [], ['203.0.113.41'])]
  const held = { ...now.configurator, carryOut: async () => ({ problems, isChanged: false, isRefused: true }) }
  const all = emptyFormer({ current: held, former: [broken, before.configurator] })
  assert.equal(await all.carryOut(shown, signal), { problems, isChanged: true, isRefused: true })
  assert.equal(before.world.has, [])
  assert.is((await all.carryOut(shown, signal)).isChanged, false, 'nothing was withdrawn from it')
})

test('a previous software that cannot be emptied hides neither problems nor another previous one, and is tried again', async () => {
  const problems = [{ subject: { service: 'default/web' }, message: 'it is refused' }]
  const failure = new KubeError('the API does not answer', { status: 503, reason: 'ServiceUnavailable' })
  const refusal = new KubeError('a policy protects a pool', { status: 403, reason: 'Forbidden' })
  const answers = [() => Promise.reject(failure), () => Promise.resolve({ ...nothingDone, failure: refusal })]
  const broken: FormerConfigurator = {
    carryOut: () => answers.shift()?.() ?? Promise.resolve(nothingDone),
    withdraw: () => Promise.resolve(false),
    announces: () => Promise.resolve(true),
  }
  const [now, before] = [configuration('now', []), configuration('before', [], [address])]
  const current = { ...now.configurator, carryOut: async () => ({ ...nothingDone, problems }) }
  const all = emptyFormer({ current, former: [broken, before.configurator] })
  assert.equal(await all.carryOut(shown, signal), { problems, isChanged: true, isRefused: false, failure })
  assert.equal(before.world.has, [])
  assert.is((await all.carryOut(shown, signal)).failure, refusal)
  assert.is(await all.announces(address, signal), true)
  assert.is((await all.carryOut(shown, signal)).failure, undefined)
  assert.is(await all.announces(address, signal), false)
})

test('software without a configuration leaves nothing to announce by another one', async () => {
  const before = configuration('before', [], [address])
  const alone = emptyFormer({ current: undefined, former: [before.configurator] })
  assert.is(await alone.announces(address, signal), true)
  await alone.carryOut(shown, signal)
  assert.is(await alone.announces(address, signal), false)
})

test('a document that we have no right to, or that nobody can read, was not ours; any other failure is one', async () => {
  const failing = (error: Error) => {
    const fails = () => {
      throw error
    }
    return formerDocument({ document: { carryOut: fails, withdraw: fails, announces: fails }, log: silentLog })
  }
  for (const error of [new KubeError('no', { status: 403, reason: 'Forbidden' }), new Error('not YAML')]) {
    assert.is((await failing(error).carryOut(shown, signal)).isChanged, false)
    assert.is(await failing(error).withdraw(shown, signal), false)
    assert.is(await failing(error).announces(address, signal), false)
  }
  const unknown = await failing(new KubeError('no answer', { status: 0, reason: 'Timeout' }))
    .announces(address, signal)
    .catch((error: unknown) => error)
  assert.match(String(unknown), 'no answer')
})

test('objects that we have no right to read were not ours; any other failure is one', async () => {
  const failing = (reason: Error) => {
    const fails = async () => {
      throw reason
    }
    const client = { list: fails, get: fails } as unknown as KubeClient
    const [former] = announcerOf({ kind: 'kube-vip' }, marks).former ?? []
    if (!former) throw new Error('there is a previous configuration')
    return formerObjects({ client, former, current: undefined })
  }
  const forbidden = failing(new KubeError('no', { status: 403, reason: 'Forbidden' }))
  assert.is((await forbidden.carryOut(shown, signal)).isChanged, false)
  assert.is(await forbidden.announces(address, signal), false)
  const unknown = await failing(new KubeError('no answer', { status: 0, reason: 'Timeout' }))
    .announces(address, signal)
    .catch((error: unknown) => error)
  assert.match(String(unknown), 'no answer')
})

const labels = { 'app.kubernetes.io/managed-by': 'eip-admission' }

/** The remaining addresses of a Service that stays, of another one, and of all others, when the other one is gone. */
async function withdrawn(kind: 'metallb' | 'cilium' | 'calico', put: (api: ReturnType<typeof apiServer>) => void) {
  const api = apiServer()
  put(api)
  const formers = announcerOf({ kind: 'kube-vip' }, marks).former ?? []
  const of = { metallb: 'IPAddressPool', cilium: 'CiliumLoadBalancerIPPool', calico: 'BGPFilter' }[kind]
  const former = formers.find(({ kinds }) => kinds.some((one) => one.kind === of))
  if (!former) throw new Error('there is a previous configuration')
  const configurator = formerObjects({ client: api.client, former, current: undefined })
  const other = { address: '203.0.113.42', services: ['default/new'] }
  const state = { addresses: [...shown.addresses, other], nodes: [], undecided: [{ address: v6, services: ['a/b'] }] }
  assert.is(await configurator.announces(gone, signal), true)
  assert.is(await configurator.withdraw(state, signal), true)
  assert.is(await configurator.announces(gone, signal), false)
  assert.is(await configurator.announces(address, signal), true)
  assert.is(await configurator.withdraw(state, signal), false)
  return api.everything()
}
const gone = '203.0.113.41'
const v6 = '2001:db8::7'

test('of previous objects only the pool of an address that no Service shows is removed: sessions stay', async () => {
  const metadata = (name: string, more: Record<string, string> = { ...labels, 'example.com/by': 'us' }) => {
    return { name, namespace: 'metallb-system', labels: more }
  }
  const left = await withdrawn('metallb', (api) => {
    const pool = (name: string, addresses: string[], by?: Record<string, string>) =>
      api.put<IPAddressPool>(ipAddressPools, {
        apiVersion: 'metallb.io/v1beta1',
        kind: 'IPAddressPool',
        metadata: metadata(name, by),
        spec: { addresses, autoAssign: false },
      })
    pool(address, [`${address}/32`])
    pool(gone, [`${gone}/32`])
    pool('v6', [`${v6}/128`])
    pool('office', ['192.0.2.0/24'], {})
    pool('theirs', ['203.0.113.42/32'], { 'example.com/by': 'us', 'service-new': 'namespace-default' })
    const spec = { myASN: 65000, peerASN: 65530, peerAddress: '169.254.255.1' }
    api.put<BGPPeer>(bgpPeers, { apiVersion: 'metallb.io/v1beta2', kind: 'BGPPeer', metadata: metadata('a'), spec })
  })
  assert.equal(
    left.map(({ metadata: { name, labels: by = {} } }) => `${name} ${Object.keys(by).length}`),
    [`${address} 2`, 'v6 2', 'office 0', 'theirs 2', 'a 2'],
  )
})

test('so is that of Cilium, and the entry in the list of Calico, which gets no new one', async () => {
  const ofCilium = await withdrawn('cilium', (api) => {
    for (const one of [address, gone]) {
      const spec = { blocks: [{ cidr: `${one}/32` }], serviceSelector: {} }
      const metadata = { name: `eip-admission-${one}`, labels }
      api.put(ciliumResources.pools, { apiVersion, kind: 'CiliumLoadBalancerIPPool', metadata, spec })
    }
    const metadata = { name: 'eip-admission-node-a', labels }
    api.put(ciliumResources.clusterConfigs, {
      apiVersion,
      kind: 'CiliumBGPClusterConfig',
      metadata,
      spec: { nodeSelector: {}, bgpInstances: [] },
    })
  })
  assert.equal(
    ofCilium.map(({ metadata }) => metadata.name),
    [`eip-admission-${address}`, 'eip-admission-node-a'],
  )
  const [filter, list] = await withdrawn('calico', (api) => {
    const { filters, configurations } = calicoResources
    const calico = 'projectcalico.org/v3'
    api.put(filters, {
      apiVersion: calico,
      kind: 'BGPFilter',
      metadata: { name: 'eip-admission', labels },
      spec: { importV4: [], exportV4: [] },
    })
    const entries = [address, gone].map((one) => `${one}/32`)
    const metadata = { name: 'default', annotations: { 'eip-admission.dev/announced-addresses': entries.join() } }
    const spec = { serviceLoadBalancerIPs: ['10.0.0.1/32', ...entries].map((cidr) => ({ cidr })) }
    api.put(configurations, { apiVersion: calico, kind: 'BGPConfiguration', metadata, spec })
  })
  assert.is(filter?.metadata.name, 'eip-admission')
  const cidrs = ['10.0.0.1/32', `${address}/32`].map((cidr) => ({ cidr }))
  assert.equal((list as BGPConfiguration | undefined)?.spec?.serviceLoadBalancerIPs, cidrs)
})

test('a Secret that the software of now has under the same name stays', async () => {
  const left = async (namespace: string) => {
    const api = apiServer()
    const secret = { namespace: 'kube-system', name: 'eip-admission-bgp', labels }
    api.put<Secret>(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: secret, type: 'Opaque', data: {} })
    const pool = { name: 'eip-admission-203.0.113.40', labels }
    api.put(ciliumResources.pools, { apiVersion, kind: 'CiliumLoadBalancerIPPool', metadata: pool })
    const { configuration: current, former = [] } = announcerOf({ kind: 'calico', namespace }, marks)
    if (current?.kind !== 'objects') throw new Error('Calico is configured by objects')
    for (const one of former)
      await formerObjects({ client: api.client, former: one, current }).carryOut(nothing, signal)
    return api.everything().map(({ kind }) => kind)
  }
  assert.equal(await left('kube-system'), ['Secret'])
  assert.equal(await left('calico-system'), [])
})

test('each software can take over the Secret that another one had in the same namespace', () => {
  const node = makeNode('node-a', { password: 's3cret' })
  const at = { namespace: 'kube-system', secretsNamespace: 'kube-system', peerMode: 'native' } as const
  const kinds = ['metallb-crd', 'cilium', 'calico'] as const
  const secretOf = (kind: (typeof kinds)[number], existing: KubeObject[]) => {
    const { configuration } = announcerOf({ kind, ...at }, marks)
    if (configuration?.kind !== 'objects') throw new Error(`${kind} is configured by objects`)
    const { wanted, problems } = configuration.objects({ ...shown, nodes: [node] }, existing)
    assert.equal(problems, [])
    return wanted.map(({ object }) => object).find((object): object is Secret => object.kind === 'Secret')
  }
  const secretsOf = kinds.flatMap((kind) => secretOf(kind, []) ?? [])
  assert.is(new Set(secretsOf.map(({ type }) => type)).size, 1, 'the API server refuses another type')
  for (const kind of kinds) for (const before of secretsOf) assert.ok(secretOf(kind, [before]))
})

test('reads that fail one after another fail together: none is left for the process to end by', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  const fails = async () => {
    throw new KubeError('aborted', { status: 0, reason: 'Aborted' })
  }
  const client = { list: fails, get: fails } as unknown as KubeClient
  const formers = announcerOf({ kind: 'kube-vip' }, marks).former ?? []
  assert.ok(formers.some(({ shared = [] }) => shared.length > 0))
  for (const former of formers) {
    const failure = await formerObjects({ client, former, current: undefined })
      .announces(address, signal)
      .catch((error: unknown) => error)
    assert.match(String(failure), 'aborted')
  }
  await setImmediate()
  process.off('unhandledRejection', note)
  assert.equal(unhandled, [])
})

test.run()
