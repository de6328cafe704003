// Whom kube-vip speaks BGP with when a node carries our annotations, release by release.
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { runs } from '../../property-runs.ts'
import type { Peer, AnnotationScheme } from '../../../clouds/ports/peering.ts'
import { ownNames, wantedAnnotations } from '../../../controllers/peering/node-annotations.ts'
import { peeringPlan } from '../../../controllers/peering/node-peering-plan.ts'
import { serveSettings } from '../../../commands/settings/serve.ts'
import { readNode, type Speaking } from '../../announcers/kube-vip-node.ts'
import { releases, rulesOf } from '../../announcers/kube-vip-releases.ts'
import { silentLog } from '../../fakes/log.ts'
import { makeNode } from '../nodes/builders.ts'
import { makeFact, makePeer, password, twoPeers } from './builders.ts'

const accounts = {
  equinixmetal: { METAL_API_KEY: 'k', METAL_PROJECT_ID: 'p' },
  cherryservers: { CHERRY_API_KEY: 'k', CHERRY_PROJECT_ID: '7' },
  packet: { PACKET_API_KEY: 'k', PACKET_PROJECT_ID: 'p', PACKET_FACILITY_NAME: 'da11' },
}

/** The annotations of a dialect by its settings. */
async function schemeOf(provider: keyof typeof accounts, env: Record<string, string>): Promise<AnnotationScheme> {
  const { cloud } = serveSettings({ flags: { '--cloud-provider': provider }, env: { ...accounts[provider], ...env } })
  const { signal } = new AbortController()
  const { bgp } = await cloud.dialect.makeProvider(cloud.settings, {
    userAgent: 'test',
    proxy: {},
    observe: () => {},
    log: silentLog,
    signal,
    reserves: true,
  })
  return bgp.annotations
}

const metal = await schemeOf('equinixmetal', { METAL_LOAD_BALANCER: 'kube-vip://' })
const cherry = await schemeOf('cherryservers', { CHERRY_LOAD_BALANCER: 'kube-vip://' })
const packet = await schemeOf('packet', { PACKET_LOAD_BALANCER: 'kube-vip://' })
const packetByItsWords = await schemeOf('packet', {
  PACKET_LOAD_BALANCER: 'kube-vip://',
  PACKET_ANNOTATION_LOCAL_ASN: 'packet.com/node-asn',
  PACKET_ANNOTATION_PEER_ASNS: 'packet.com/peer-asn',
  PACKET_ANNOTATION_PEER_IPS: 'packet.com/peer-ip',
})
const prefix = 'metal.equinix.com'

const secret = 'Secret-12/345?'
const withPassword = twoPeers.map((peer) => ({ ...peer, password: password(secret) }))
const spoken: Speaking = {
  localAsn: 65_000,
  routerId: '10.66.1.3',
  sourceAddress: '10.66.1.3',
  peerAsn: 65_530,
  peers: ['169.254.255.1', '169.254.255.2'],
  password: undefined,
  timeToLive: 1,
}

function annotate(peers: Peer[], scheme = metal): Record<string, string> {
  return wantedAnnotations(makeFact({ peers }), scheme)
}

for (const release of releases) {
  const { readsEveryPeer, knowsHops } = rulesOf(release)
  const peers = readsEveryPeer ? spoken.peers : ['169.254.255.1']

  test(`kube-vip ${release} speaks with ${peers.join(' and ')} of Equinix Metal, by password`, () =>
    assert.equal(readNode(annotate(withPassword), { release, prefix }), { ...spoken, peers, password: secret }))

  test(`kube-vip ${release} speaks with routers of Equinix Metal that ask for no password`, () =>
    assert.equal(readNode(annotate(twoPeers), { release, prefix }), { ...spoken, peers }))

  test(`kube-vip ${release} speaks with ${peers.join(' and ')} of Cherry Servers${knowsHops ? ', hops away' : ''}`, () =>
    assert.equal(readNode(annotate(twoPeers, cherry), { release, prefix: 'cherryservers.com' }), {
      ...spoken,
      peers,
      timeToLive: knowsHops ? 50 : 1,
    }))

  test(`kube-vip ${release} speaks with both routers of Packet by one list, once it knows from where`, () => {
    const said = annotate(twoPeers, packetByItsWords)
    assert.is(said['packet.com/peer-ip'], '169.254.255.1,169.254.255.2')
    const reading = { release, prefix: 'packet.com' }
    assert.is(readNode(said, reading), undefined)
    const byHand = { 'packet.com/src-ip': spoken.sourceAddress }
    assert.equal(readNode({ ...said, ...byHand }, reading), spoken)
    assert.is(readNode({ ...annotate(twoPeers, packet), ...byHand }, reading), undefined, 'by its names of old')
  })

  test(`kube-vip ${release} waits on a node whose peers are not known, and on one of another prefix`, () => {
    assert.is(readNode(annotate([]), { release, prefix }), undefined)
    assert.is(readNode(annotate(twoPeers), { release, prefix: 'bgp.example.com' }), undefined)
  })

  test(`kube-vip ${release} finds names that the settings chose by their prefix`, async () => {
    const data = {
      LOCAL_ASN: 'node-asn',
      PEER_ASN: 'peer-asn',
      PEER_IP: 'peer-ip',
      SRC_IP: 'src-ip',
      BGP_PASS: 'bgp-pass',
    }
    const chosen = Object.entries(data).map(([word, datum]) => [
      `METAL_ANNOTATION_${word}`,
      `bgp.example.com/bgp-peers-{{n}}-${datum}`,
    ])
    const scheme = await schemeOf('equinixmetal', {
      METAL_LOAD_BALANCER: 'kube-vip://',
      ...Object.fromEntries(chosen),
    })
    const read = readNode(annotate(withPassword, scheme), { release, prefix: 'bgp.example.com' })
    assert.equal(read, { ...spoken, peers, password: secret })
  })

  test(`kube-vip ${release} finds each fact once on a node that said them by their oldest names`, () => {
    const outdated = {
      [`${prefix}/node-asn`]: '65001',
      [`${prefix}/peer-asn`]: '65531',
      [`${prefix}/peer-ip`]: '192.0.2.1,192.0.2.2',
      [`${prefix}/src-ip`]: '10.66.1.9',
      [`${prefix}/bgp-pass`]: 'b2xk',
    }
    const before = { ...outdated, ...annotate(withPassword), 'example.com/kept': 'yes' }
    assert.throws(() => readNode(before, { release, prefix }), 'kube-vip finds 2 annotations')
    const after = annotated(before, withPassword)
    assert.equal(readNode(after, { release, prefix }), { ...spoken, peers, password: secret })
    assert.is(after['example.com/kept'], 'yes')
  })

  test(`kube-vip ${release} reads no more of a peer and a password that no longer exist`, () =>
    assert.equal(readNode(annotated(annotate(withPassword), [makePeer()]), { release, prefix }), {
      ...spoken,
      peers: ['169.254.255.1'],
    }))
}

/** The annotations of a node after our next step, when the cloud says these peers. */
function annotated(annotations: Record<string, string>, peers: Peer[]): Record<string, string> {
  const node = makeNode({ providerID: 'equinixmetal://m-1' })
  const step = peeringPlan(metal)({
    node: { ...node, metadata: { ...node.metadata, annotations } },
    providerId: { kind: 'machine', id: 'm-1' },
    isSelected: true,
    fact: makeFact({ peers }),
    isDue: false,
  })
  if (step?.do !== 'annotate') throw new Error(`the node is not annotated: ${step?.do}`)
  const { stale, wanted } = step
  const kept = Object.entries(annotations).filter(([name]) => !stale.includes(name))
  return { ...Object.fromEntries(kept), ...wanted }
}

test('a person may write that the routers of Equinix Metal are hops away, and that stays', () => {
  const byHand = { [`${prefix}/bgp-peers-0-peer-multi-hop`]: 'true' }
  const after = annotated(byHand, withPassword)
  assert.is(readNode(after, { release: '1.2.0', prefix })?.timeToLive, 50)
  assert.is(readNode(after, { release: '0.8.10', prefix })?.timeToLive, 1)
  assert.not(ownNames(metal)(Object.keys(byHand)[0] ?? ''))
})

test('with MetalLB no node shows a password', async () => {
  const scheme = await schemeOf('equinixmetal', { METAL_LOAD_BALANCER: 'metallb:///' })
  assert.is(readNode(annotate(withPassword, scheme), { release: '1.2.0', prefix })?.password, undefined)
})

test('an annotation that only begins like one of ours misleads a kube-vip before 1.2', () => {
  const annotations = { ...annotate(twoPeers), [`${prefix}/bgp-peers-0-node-asn-old`]: '65001' }
  assert.throws(() => readNode(annotations, { release: '0.8.10', prefix }), 'kube-vip finds 2 annotations for node-asn')
  assert.equal(readNode(annotations, { release: '1.2.0', prefix }), spoken)
})

const misread: [datum: string, value: string, complaint: string][] = [
  ['node-asn', 'AS65000', 'no ASN in "AS65000"'],
  ['peer-asn', '4294967296', 'no ASN in "4294967296"'],
  ['src-ip', 'node-a', 'no router id from "node-a"'],
  ['bgp-pass', secret, 'standard base64 alone'],
  ['peer-multi-hop', 'yes', 'peer-multi-hop "yes"'],
]
for (const [datum, value, complaint] of misread)
  test(`kube-vip stops at ${datum} ${value}`, () => {
    const annotations = { ...annotate(twoPeers), [`${prefix}/bgp-peers-0-${datum}`]: value }
    assert.throws(() => readNode(annotations, { release: '1.2.0', prefix }), complaint)
  })

const asns = fc.integer({ min: 1, max: 4_294_967_295 })

/** Routers of a cloud, which share everything but their addresses. */
const peerings = fc
  .record({
    localAsn: asns,
    peerAsn: asns,
    sourceAddress: fc.ipV4(),
    isMultihop: fc.boolean(),
    password: fc.option(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }), { nil: undefined }),
    peers: fc.uniqueArray(fc.oneof(fc.ipV4(), fc.ipV6()), { minLength: 1, maxLength: 12 }),
  })
  .map((said) => {
    const { peers, password: text, ...others } = said
    const shared = { ...others, password: text === undefined ? undefined : password(text) }
    return { said, peers: peers.map((peerAddress) => makePeer({ ...shared, peerAddress })) }
  })

const dialects = fc.constantFrom(
  { prefix, scheme: metal, tellsHops: false, tellsPasswords: true },
  { prefix: 'cherryservers.com', scheme: cherry, tellsHops: true, tellsPasswords: false },
)

test('whatever routers a cloud has, every release speaks as they expect', () =>
  fc.assert(
    fc.property(peerings, dialects, fc.constantFrom(...releases), ({ said, peers }, dialect, release) => {
      const { readsEveryPeer, knowsHops } = rulesOf(release)
      const { localAsn, peerAsn, sourceAddress } = said
      assert.equal(readNode(annotate(peers, dialect.scheme), { release, prefix: dialect.prefix }), {
        localAsn,
        peerAsn,
        sourceAddress,
        routerId: sourceAddress,
        peers: readsEveryPeer ? said.peers.toSorted() : said.peers.slice(0, 1),
        password: dialect.tellsPasswords ? said.password : undefined,
        timeToLive: knowsHops && dialect.tellsHops && said.isMultihop ? 50 : 1,
      })
    }),
    runs(300),
  ))

test.run()
