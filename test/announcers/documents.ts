import fc from 'fast-check'

/** Entries of the two lists, as people write them; none clashes with another one. */
const peers = [
  '- my-asn: 64512\n  peer-asn: 64513 # the office\n  peer-address: 10.9.9.9\n',
  '- peer-address: 10.9.9.8\n  my-asn: 64512\n\n  peer-asn: 64514\n  node-selectors:\n    - match-expressions:\n      - {key: role, operator: In, values: [edge,   "core"]}\n',
  '# by hand, for node-b\n-   my-asn: 65000\n    peer-asn: 65530\n    peer-address: 169.254.255.1\n    node-selectors:\n    - match-labels: {kubernetes.io/hostname: node-b}\n',
  "- {my-asn: 64512, peer-asn: 64515, peer-address: '10.9.9.7', password: 'it''s'}\n",
]
const pools = [
  '- name: office\n  protocol: layer2\n  addresses: [ 203.0.113.0/28 ]   # behind the firewall\n',
  '- addresses:\n  - 192.0.2.0-192.0.2.200\n  name: default/web\n  protocol: bgp\n  avoid-buggy-ips: yes\n  bgp-advertisements:\n  - aggregation-length: 32\n    localpref: 100\n    communities:\n    - no-advertise\n',
  '-\n  name: "kept: # one"\n  protocol: bgp\n  auto-assign: off\n  addresses:\n  - 203.0.113.64/32\n',
]
const others = ['bgp-communities:\n  no-advertise: 65535:65282\n', '# nothing to see here\n', '\n']

const list = (key: string, items: string[]) =>
  fc.oneof(
    fc.constantFrom('', `${key}:\n`, `${key}: [] # none yet\n`, `${key}: null\n`, `${key}: # none yet\n# but soon\n`),
    fc
      .tuple(fc.shuffledSubarray(items, { minLength: 1 }), fc.constantFrom('', '  '), fc.constantFrom('', '# below\n'))
      .map(([some, indent, below]) => `${key}: # ${key}\n${some.join('').replaceAll(/^(?=.)/gm, indent)}${below}`),
  )

/** Documents that a person wrote, in every layout that people use. */
export const written: fc.Arbitrary<string> = fc
  .tuple(list('peers', peers), list('address-pools', pools), fc.subarray(others), fc.boolean())
  .chain(([ofPeers, ofPools, rest, isEnded]) =>
    fc
      .shuffledSubarray([ofPeers, ofPools, ...rest], { minLength: 2 + rest.length })
      .map((parts) => (isEnded ? parts.join('') : parts.join('').trimEnd())),
  )

/** The remains of a predecessor: all of it is ours to keep or to remove. */
export const leftDocument = `address-pools:
- addresses:
  - 198.51.100.7/32
  auto-assign: false
  name: default/web
  protocol: bgp
- addresses:
  - 198.51.100.9/32
  auto-assign: false
  name: shop/api,shop/web
  protocol: bgp
peers:
- my-asn: 65000
  node-selectors:
  - match-labels:
      kubernetes.io/hostname: node-a
  - match-labels:
      nomatch.metal.equinix.com/service-name: web
      nomatch.metal.equinix.com/service-namespace: default
  password: old
  peer-address: 169.254.255.1
  peer-asn: 65530
  source-address: 10.0.0.5
- my-asn: 65000
  node-selectors:
  - match-labels:
      kubernetes.io/hostname: gone
  - match-labels:
      nomatch.metal.equinix.com/service-name: web
      nomatch.metal.equinix.com/service-namespace: default
  peer-address: 169.254.255.1
  peer-asn: 65530
`
