import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ownNames, wantedAnnotations } from '../../../controllers/peering/node-annotations.ts'
import { annotated, makeFact, makePeer, password, scheme } from './builders.ts'
import type { AnnotationScheme } from '../../../clouds/ports/peering.ts'

const secret = password('Secret-12/345?')
const withPassword = makeFact({ peers: [makePeer({ password: secret })], privateNetwork: undefined })

test('each peer has a number from 0, and each fact about it an annotation', () =>
  assert.equal(wantedAnnotations(makeFact(), scheme), annotated))

test('an unknown node is not annotated', () => assert.equal(wantedAnnotations(undefined, scheme), {}))

test('a node without peers at the provider is annotated only with its network', () =>
  assert.equal(wantedAnnotations(makeFact({ peers: [] }), scheme), {
    'metal.equinix.com/network-4-private': '10.66.1.0/25',
  }))

test('a password is shown in standard base64 to who learns it in no other way, and else not at all', () => {
  const shown = wantedAnnotations(withPassword, { ...scheme, showsPasswords: true })
  assert.is(shown['metal.equinix.com/bgp-peers-0-bgp-pass'], 'U2VjcmV0LTEyLzM0NT8=')
  assert.is(Object.keys(shown).length, 5)
  assert.is(Object.keys(wantedAnnotations(withPassword, scheme)).length, 4)
})

test('a peer without a password has no annotation for it', () =>
  assert.equal(wantedAnnotations(makeFact(), { ...scheme, showsPasswords: true }), annotated))

test('a name without a placeholder gets all distinct values, separated by commas', () => {
  const names = { ...scheme.names, localAsn: 'packet.com/node.asn', peerAddress: 'packet.com/peer.ips' }
  const wanted = wantedAnnotations(makeFact(), { ...scheme, names })
  assert.is(wanted['packet.com/node.asn'], '65000')
  assert.is(wanted['packet.com/peer.ips'], '169.254.255.1,169.254.255.2')
})

const outdated = 'metal.equinix.com/peer-ip'
const custom: AnnotationScheme = {
  ...scheme,
  names: { ...scheme.names, sourceAddress: 'a.example.com/{{n}}', privateNetwork: 'net' },
  outdated: [outdated],
}
const names: [name: string, isOwn: boolean][] = [
  ['metal.equinix.com/bgp-peers-0-node-asn', true],
  ['metal.equinix.com/bgp-peers-12-peer-ip', true],
  ['metal.equinix.com/bgp-peers-0-bgp-pass', true],
  ['a.example.com/3', true],
  ['net', true],
  [outdated, true],
  ['metal.equinix.com/bgp-peers-01-node-asn', false],
  ['metal.equinix.com/bgp-peers-x-node-asn', false],
  ['metal.equinix.com/bgp-peers-0-node-asn-old', false],
  ['my.metal.equinix.com/bgp-peers-0-node-asn', false],
  ['metalxequinix.com/bgp-peers-0-node-asn', false],
  ['metal.equinix.com/node-asn', false],
  ['metal.equinix.com/network-4-private', false],
  ['metal.equinix.com/bgp-peers-0-src-ip', false],
  ['a.example.com/', false],
]
for (const [name, isOwn] of names)
  test(`the annotation ${name} is ${isOwn ? 'ours' : "a stranger's"}`, () => assert.is(ownNames(custom)(name), isOwn))

test.run()
