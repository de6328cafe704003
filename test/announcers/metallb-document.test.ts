import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import type { Announcements } from '../../announcers/announcer.ts'
import { metallbDocument, recount } from '../../announcers/metallb/document.ts'
import { objectionsTo } from './document-rules.ts'
import { leftDocument } from './documents.ts'
import { makeNode } from './states.ts'

const configuration = metallbDocument({
  namespace: 'metallb-system',
  name: 'config',
  counting: 'nomatch.metal.equinix.com',
})
const web = { address: '198.51.100.7', services: ['default/web'] }
const nodes = [makeNode('node-a', { password: 's3cret' })].map((node) => ({ ...node, peers: node.peers.slice(0, 1) }))

function edit(document: string, { addresses = [web], nodes: of = nodes, undecided = [] }: Partial<Announcements> = {}) {
  return configuration.edit(document, { addresses, undecided, nodes: of })
}

test('an empty document gets a pool for the Service and a peer for the node', () => {
  assert.equal(edit(''), {
    document: `peers:
- my-asn: 65000
  peer-asn: 65530
  peer-address: 169.254.255.1
  source-address: 10.0.0.5
  password: s3cret
  node-selectors:
  - match-labels:
      kubernetes.io/hostname: node-a
  - match-labels:
      nomatch.metal.equinix.com/service-name: web
      nomatch.metal.equinix.com/service-namespace: default
  hold-time: 30s
address-pools:
- name: default/web
  protocol: bgp
  addresses:
  - 198.51.100.7/32
  auto-assign: false
`,
    problems: [],
  })
})

test('what we wrote stays while the ledger has not decided whose the address is', () => {
  const { document } = edit('')
  const other = { address: '198.51.100.8', services: ['default/other'] }
  assert.is(edit(document, { addresses: [], undecided: [web, other] }).document, document)
  assert.not.match(edit(document, { addresses: [] }).document, web.address)
})

const foreign = `# ours is the office, the rest is the machine's
address-pools:
  # upstairs
  - name: office   # do not touch
    protocol: layer2
    addresses: ["192.0.2.0/28"]
bgp-communities: {no-advertise: 65535:65282, backup: 64512:30}`

const kept = `# ours is the office, the rest is the machine's
address-pools:
# upstairs
- name: office # do not touch
  protocol: layer2
  addresses: ["192.0.2.0/28"]
bgp-communities: {no-advertise: 65535:65282, backup: 64512:30}
`

test('what a person wrote stays with its comments and in its place, in the usual indentation', () => {
  const { document } = edit(foreign, { nodes: [] })
  assert.is(
    document,
    kept.replace(
      'bgp-communities',
      `- name: default/web
  protocol: bgp
  addresses:
  - 198.51.100.7/32
  auto-assign: false
bgp-communities`,
    ),
  )
  assert.is(edit(document, { addresses: [] }).document, kept)
})

test('items of a predecessor are adopted: names, counted Services and passwords are corrected, the others are removed', () => {
  const { document } = edit(leftDocument)
  assert.is(
    document,
    leftDocument
      .replace(/- addresses:\n  - 198\.51\.100\.9[^]*?protocol: bgp\n/, '')
      .replace('password: old', 'password: s3cret')
      .replace(/(source-address: 10\.0\.0\.5\n)[^]*/, '$1'),
  )
})

test('two Services on one address share a pool with both of their names', () => {
  const { document } = edit('', { addresses: [{ ...web, services: ['shop/api', 'default/web'] }], nodes: [] })
  assert.match(document, '- name: default/web,shop/api\n')
})

test('a Service with two addresses has two pools with different names', () => {
  const { document } = edit('', { addresses: [{ ...web, address: '198.51.100.8' }, web], nodes: [] })
  assert.match(document, '- name: default/web\n')
  assert.match(document, '- name: default/web/198.51.100.8\n')
})

test('an address in a foreign pool stays there, and the Service gets a problem', () => {
  const office = { address: '192.0.2.7', services: ['default/web'] }
  assert.equal(edit(foreign, { addresses: [office], nodes: [] }), {
    document: foreign,
    problems: [
      {
        subject: { service: 'default/web' },
        message:
          'address 192.0.2.7 is in pool office, which eip-admission does not manage, so eip-admission cannot give it its own pool; remove the address from that pool',
      },
    ],
  })
})

test('what a person added to one of our peers stays', () => {
  const added = edit('').document.replace('hold-time: 30s', 'hold-time: 9s # quick\n  router-id: 10.0.0.5')
  const [node] = nodes
  const changed = edit(added, {
    nodes: node ? [{ ...node, peers: node.peers.map((peer) => ({ ...peer, peerAsn: 65531 })) }] : [],
  })
  assert.is(changed.document, added.replace('peer-asn: 65530', 'peer-asn: 65531'))
})

test('a peer of a person for the same session is kept, and none is written beside it', () => {
  const document = `peers:
- my-asn: 65000
  peer-asn: 65530
  peer-address: 169.254.255.1
  node-selectors:
  - match-labels: {kubernetes.io/hostname: node-a}
`
  assert.is(edit(document, { addresses: [{ ...web, services: ['default/web'] }] }).document.split('my-asn').length, 2)
})

test('a password that the provider no longer has is written empty', () => {
  const { document } = edit(edit('').document, {
    nodes: nodes.map((node) => ({ ...node, peers: node.peers.map((peer) => ({ ...peer, password: undefined })) })),
  })
  assert.match(document, '  password: ""\n')
  assert.equal(objectionsTo(document), [])
})

test('MetalLB up to 0.12 does not support IPv6, and the Service gets a problem', () => {
  const { document, problems } = edit('', { addresses: [{ address: '2001:db8::7', services: ['default/web'] }] })
  assert.is(document, '')
  assert.equal(
    problems.map(({ subject }) => subject),
    [{ service: 'default/web' }],
  )
})

test('peers count one Service if a ConfigMap could not hold them all', () => {
  const addresses = Array.from({ length: 60 }, (_, at) => ({
    address: `198.51.100.${at}`,
    services: [`default/s${at}`],
  }))
  const many = Array.from({ length: 50 }, (_, at) => makeNode(`node-${at}`))
  const { document } = edit('', { addresses, nodes: many })
  assert.ok(document.length < 1_000_000)
  assert.is(document.split('/service-name:').length - 1, 100)
  assert.is(edit(document, { addresses, nodes: many }).document, document)
})

test('a Service that comes or goes changes no peer: MetalLB would close its session', () => {
  const peersOf = (document: string) => document.slice(0, document.indexOf('address-pools'))
  const db = { address: '198.51.100.8', services: ['default/db'] }
  const { document } = edit('')
  const more = edit(document, { addresses: [web, db] }).document
  assert.match(more, 'name: default/db')
  assert.is(peersOf(more), peersOf(document))
  const fewer = edit(more, { addresses: [db] }).document
  assert.not.match(fewer, 'name: default/web')
  assert.is(peersOf(fewer), peersOf(document))
})

test('our peer that selects more than one node, or anything else, is corrected', () => {
  const { document } = edit('')
  const other = document.replace(
    '  - match-labels:\n      nomatch',
    '  - match-labels:\n      role: edge\n  - match-labels:\n      nomatch',
  )
  assert.is.not(other, document)
  assert.is(edit(other).document, document)
})

test('before a predecessor returns, peers count the Services that it will serve', () => {
  const counting = 'nomatch.metal.equinix.com'
  const { document } = edit('', { nodes: [makeNode('node-a'), makeNode('node-b')] })
  assert.equal(recount(document, { counting, services: ['default/web'] }).peers, [])
  const { peers, correct } = recount(document, { counting, services: ['a/api', 'a/web', 'b/api'] })
  assert.is(peers.length, 4)
  const one = correct(peers.slice(0, 1))
  assert.is(recount(one, { counting, services: ['b/api', 'a/web', 'a/api'] }).peers.length, 3)
  const names = [...one.matchAll(/service-name: (.*)\n.*service-namespace: (.*)/g)].map(
    ([, name, of]) => `${of}/${name}`,
  )
  assert.equal(names.slice(0, 3), ['a/api', 'a/web', 'b/api'])
  assert.equal(objectionsTo(one), [])
  // A person's own peer is left alone.
  assert.equal(
    recount(`peers:\n- my-asn: 1\n  peer-asn: 2\n  peer-address: 10.0.0.1\n`, { counting, services: [] }).peers,
    [],
  )
})

test('before a predecessor returns that counts none, our peers have only the fields that it writes', () => {
  const counting = 'nomatch.packet.com'
  const { document } = edit('', { nodes: [makeNode('node-a')] })
  const { peers, correct } = recount(document, { counting, services: undefined })
  assert.is(peers.length, 2)
  const plain = correct(peers)
  const written = (parse(plain) as { peers: Record<string, unknown>[] }).peers
  for (const peer of written) {
    assert.equal(peer['node-selectors'], [{ 'match-labels': { 'kubernetes.io/hostname': 'node-a' } }])
    assert.is(peer['hold-time'], '')
    // packet-ccm 1.1 refuses a document with a field that it does not know.
    assert.not('source-address' in peer)
  }
  assert.equal(objectionsTo(plain), [])
  assert.equal(recount(plain, { counting, services: undefined }).peers, [])
})

const secretive = 'peers:\n- password: "s3cret\n  my-asn: ]s3cret'
const unreadable: { name: string; document: string; says: RegExp }[] = [
  { name: 'is broken', document: secretive, says: /config: line 3, column \d+ is not YAML \(\w+\)/ },
  { name: 'is not a map', document: '- s3cret\n', says: /config: the document is not a map of settings/ },
  { name: 'has peers that are not a list', document: 'peers: {s3cret: 1}\n', says: /config: peers is not a list/ },
  { name: 'has two documents', document: 'peers: []\n---\na: s3cret\n', says: /config: line 2, column 1 is not YAML/ },
  { name: 'has a key twice', document: 'peers: []\npeers: [s3cret]\n', says: /config: line 2, column 1 is not YAML/ },
  {
    name: 'uses one list twice',
    document: 'address-pools: &s3cret\n- {name: x, protocol: layer2, addresses: [192.0.2.0/28]}\nx: *s3cret\n',
    says: /config: .*address-pools: a list that has another name too cannot be edited/,
  },
  {
    name: 'has an alias without an anchor',
    document: 'peers: *s3cret\n',
    says: /config: an alias cannot be resolved/,
  },
]
for (const { name, document, says } of unreadable) {
  test(`a document that ${name} is not written, and the error names the place and quotes nothing`, () => {
    assert.throws(
      () => edit(document),
      ({ message }: Error) => {
        assert.match(message, says)
        assert.match(message, /^ConfigMap metallb-system\/config, /)
        assert.match(message, /kubectl -n metallb-system edit configmap config$/)
        assert.not.match(message, 's3cret')
        return true
      },
    )
  })
}

test('a withdrawn address loses its pool, and every other line stays, peers included', () => {
  const api = { address: '198.51.100.8', services: ['default/api'] }
  const { document } = edit('', { addresses: [web, api] })
  const pools = (text: string) => text.split('\n').filter((line) => line.startsWith('- name'))
  assert.equal(pools(document), ['- name: default/web', '- name: default/api'])
  const left = configuration.withdraw(document, { addresses: [web], nodes: [] })
  assert.equal(pools(left), ['- name: default/web'])
  assert.is(left.split('address-pools')[0], document.split('address-pools')[0])
  assert.is(configuration.withdraw(document, { addresses: [web], undecided: [api], nodes: [] }), document)
})

test('a withdrawal leaves every pool of a person, also one of a single address', () => {
  const own = kept.replace(
    'bgp-communities',
    '- {name: edge, protocol: bgp, addresses: [192.0.2.40/32], auto-assign: false}\nbgp-communities',
  )
  const { document } = edit(own, { nodes: [] })
  assert.match(document, 'name: default/web')
  assert.is(configuration.withdraw(document, { addresses: [], nodes: [] }), own)
})

test.run()
