import fc from 'fast-check'
import type { Announcements, NodePeers, Peer } from '../../announcers/announcer.ts'

/** A session as a cloud gives it; any fact of it can be said otherwise. */
export function makePeer(facts: Partial<Omit<Peer, 'password'>> & { password?: string } = {}): Peer {
  const { password, ...others } = facts
  return {
    localAsn: 65000,
    peerAsn: 65530,
    peerAddress: '169.254.255.1',
    sourceAddress: '10.0.0.5',
    isMultihop: true,
    password: password === undefined ? undefined : { reveal: () => password },
    ...others,
  }
}

/** A node that speaks with both routers of its cloud. */
export function makeNode(node: string, facts: Parameters<typeof makePeer>[0] = {}): NodePeers {
  const peers = ['169.254.255.1', '169.254.255.2'].map((peerAddress) => makePeer({ peerAddress, ...facts }))
  return { node, hostname: node, peers }
}

const services = ['default/web', 'default/api', 'shop/web', 'no/true']
const addresses = [
  '198.51.100.7',
  '198.51.100.8',
  '192.0.2.20',
  '192.0.2.255',
  '2001:db8::7',
  '2001:0DB8:0::7',
  '::1',
  '::ffff:198.51.100.7',
  '198.51.100.007',
  '198.51.100.7/32',
  'fe80::1%eth0',
  'lb.example.com',
  '',
]

const announced = fc.record({
  address: fc.constantFrom(...addresses),
  services: fc.uniqueArray(fc.constantFrom(...services), { maxLength: 3 }),
})

/** Mostly what clouds say; sometimes what none should. */
const peer = fc
  .record({
    localAsn: often(65000, 65001, 0, 4_294_967_295, 4_294_967_296),
    peerAsn: often(65530, 65531, 65000, 1.5),
    peerAddress: often('169.254.255.1', '169.254.255.2', '2001:db8::1', '2001:DB8:0::1', 'router', ''),
    sourceAddress: often('10.0.0.5', '10.0.0.6', '2001:db8::5', ''),
    isMultihop: fc.boolean(),
    password: often(undefined, 's3cret', 'an other: #one', 'two\nlines', ''),
  })
  .map(({ password, ...others }) => makePeer({ ...others, ...(password === undefined ? {} : { password }) }))

const node = fc.record({
  node: fc.constantFrom('node-a', 'node-b', 'node-c', 'node-1.example.com', `n${'x'.repeat(252)}`),
  hostname: fc.constantFrom('node-a', 'node-b', 'node-c', 'Node_1', '1e3', 'no', '', 'not a label'),
  peers: fc.array(peer, { maxLength: 4 }),
})

/** Any state: duplicates, contradictions and nonsense included. */
export const states: fc.Arbitrary<Announcements> = fc.record({
  addresses: fc.array(announced, { maxLength: 6 }),
  nodes: fc.array(fc.oneof(node, sound()), { maxLength: 5 }),
})

/** The same state in another order. */
export function reordered(state: Announcements): fc.Arbitrary<Announcements> {
  const shuffled = <T>(items: T[]) => fc.shuffledSubarray(items, { minLength: items.length })
  return fc.record({
    addresses: shuffled(state.addresses.map((one) => ({ ...one, services: one.services.toReversed() }))),
    nodes: shuffled(state.nodes.map((one) => ({ ...one, peers: one.peers.toReversed() }))),
  })
}

function sound(): fc.Arbitrary<NodePeers> {
  return fc.constantFrom('node-a', 'node-b', 'node-c').map((name) => makeNode(name, { password: 's3cret' }))
}

function often<T>(usual: T, ...others: T[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) })
}
