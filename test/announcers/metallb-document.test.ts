import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcements } from '../../announcers/announcer.ts'
import { metallbDocument } from '../../announcers/metallb/document.ts'
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

function edit(document: string, { addresses = [web], nodes: of = nodes }: Partial<Announcements> = {}) {
  return configuration.edit(document, { addresses, nodes: of })
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

const theirs = `# ours is the office, the rest is the machine's
address-pools:
  # upstairs
  - name: office   # do not touch
    protocol: layer2
    addresses: ["192.0.2.0/28"]
bgp-communities: {no-advertise: 65535:65282}`

test('what a person wrote stays where it is and as it is', () => {
  const { document } = edit(theirs, { nodes: [] })
  assert.is(
    document,
    theirs.replace(
      '\nbgp-communities',
      `
  - name: default/web
    protocol: bgp
    addresses:
    - 198.51.100.7/32
    auto-assign: false
bgp-communities`,
    ) + '\n',
  )
  assert.is(edit(document, { addresses: [] }).document, `${theirs}\n`)
})

test('what a predecessor left is taken over: names, counted Services and passwords put right, leftovers removed', () => {
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

test('a Service with two addresses has two pools, with names that tell them apart', () => {
  const { document } = edit('', { addresses: [{ ...web, address: '198.51.100.8' }, web], nodes: [] })
  assert.match(document, '- name: default/web\n')
  assert.match(document, '- name: default/web/198.51.100.8\n')
})

test('an address in a pool of somebody else stays there, and the Service is told', () => {
  const office = { address: '192.0.2.7', services: ['default/web'] }
  assert.equal(edit(theirs, { addresses: [office], nodes: [] }), {
    document: theirs,
    problems: [
      {
        concern: { service: 'default/web' },
        message: '192.0.2.7 is in pool office, which is not ours: it gets no other one',
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

test('a peer that a person made for the same session does the work', () => {
  const document = `peers:
- my-asn: 65000
  peer-asn: 65530
  peer-address: 169.254.255.1
  node-selectors:
  - match-labels: {kubernetes.io/hostname: node-a}
`
  assert.is(edit(document, { addresses: [{ ...web, services: ['default/web'] }] }).document.split('my-asn').length, 2)
})

test('a password that is gone is unsaid', () => {
  const { document } = edit(edit('').document, {
    nodes: nodes.map((node) => ({ ...node, peers: node.peers.map((peer) => ({ ...peer, password: undefined })) })),
  })
  assert.match(document, '  password: ""\n')
  assert.equal(objectionsTo(document), [])
})

test('IPv6 is not for this generation of MetalLB, and the Service is told', () => {
  const { document, problems } = edit('', { addresses: [{ address: '2001:db8::7', services: ['default/web'] }] })
  assert.is(document, '')
  assert.equal(
    problems.map(({ concern }) => concern),
    [{ service: 'default/web' }],
  )
})

test('of so many Services that a ConfigMap could not hold them the peers count one', () => {
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

const secretive = 'peers:\n- password: "s3cret\n  my-asn: ]s3cret'
const unreadable: { name: string; document: string; says: RegExp }[] = [
  { name: 'is broken', document: secretive, says: /config: line 3, column \d+ is no YAML \(\w+\)/ },
  { name: 'is no map', document: '- s3cret\n', says: /config: it is no map of settings/ },
  { name: 'has peers that are no list', document: 'peers: {s3cret: 1}\n', says: /config: peers is no list/ },
  { name: 'has two documents', document: 'peers: []\n---\na: s3cret\n', says: /config: line 2, column 1 is no YAML/ },
  { name: 'has a key twice', document: 'peers: []\npeers: [s3cret]\n', says: /config: line 2, column 1 is no YAML/ },
  {
    name: 'uses one list twice',
    document: 'address-pools: &s3cret\n- {name: x, protocol: layer2, addresses: [192.0.2.0/28]}\nx: *s3cret\n',
    says: /config: .*address-pools: the layout cannot be edited/,
  },
  {
    name: 'has an alias of nothing',
    document: 'peers: *s3cret\n',
    says: /config: it has an alias that cannot be followed/,
  },
]
for (const { name, document, says } of unreadable) {
  test(`a document that ${name} is not written; it is said where, and nothing of it is quoted`, () => {
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

test.run()
