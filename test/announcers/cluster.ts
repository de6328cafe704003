import fc from 'fast-check'
import type { BGPAdvertisement, BGPPeer, IPAddressPool } from '../../announcers/metallb/resources.ts'
import type { LabelSelector } from '../../lib/label-selector.ts'
import type { KubeObject } from '../../kube/objects.ts'

/** Where MetalLB is, and by what our objects are known, in these tests. */
export const marks = {
  namespace: 'metallb-system',
  label: { name: 'cloud-provider', value: 'equinix-metal' },
  advertisement: 'equinix-metal-bgp-adv',
  passwordSecret: 'bgp-password',
}

const label = { [marks.label.name]: marks.label.value }

type Facts<T extends KubeObject & { spec?: unknown }> = { name: string; labels?: Record<string, string> } & T['spec']

/** A pool as somebody may have made it. */
export function aPool({ name, labels = {}, ...spec }: Facts<IPAddressPool>): IPAddressPool {
  const metadata = { name, namespace: marks.namespace, labels }
  return { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool', metadata, spec }
}

/** A peer as somebody may have made it. */
export function aPeer({ name, labels = {}, ...spec }: Facts<BGPPeer>): BGPPeer {
  const metadata = { name, namespace: marks.namespace, labels }
  return { apiVersion: 'metallb.io/v1beta2', kind: 'BGPPeer', metadata, spec }
}

/** An advertisement as somebody may have made it. */
export function anAdvertisement({ name, labels = {}, ...spec }: Facts<BGPAdvertisement>): BGPAdvertisement {
  const metadata = { name, namespace: marks.namespace, labels }
  return { apiVersion: 'metallb.io/v1beta1', kind: 'BGPAdvertisement', metadata, spec }
}

/** The remains of a predecessor: its peers have the password in plain text, and count Services in a selector. */
export const left = {
  pool: aPool({
    name: 'default.web',
    labels: { ...label, 'service-web': 'namespace-default' },
    addresses: ['198.51.100.7/32'],
    autoAssign: false,
  }),
  peer: aPeer({
    name: 'node-a-0',
    labels: label,
    myASN: 65000,
    peerASN: 65530,
    peerAddress: '169.254.255.1',
    sourceAddress: '10.0.0.5',
    holdTime: '0s',
    nodeSelectors: [
      { matchLabels: { 'kubernetes.io/hostname': 'node-a' } },
      {
        matchLabels: {
          'nomatch.metal.equinix.com/service-name': 'web',
          'nomatch.metal.equinix.com/service-namespace': 'default',
        },
      },
    ],
  }),
  uncounted: aPeer({
    name: 'node-b-1',
    labels: label,
    myASN: 65000,
    peerASN: 65530,
    peerAddress: '169.254.255.2',
    nodeSelectors: [{ matchLabels: { 'kubernetes.io/hostname': 'node-b' } }],
  }),
  advertisement: anAdvertisement({ name: marks.advertisement, labels: label, ipAddressPools: ['default.web'] }),
}

const people: KubeObject[] = [
  aPool({ name: 'office', addresses: ['192.0.2.0-192.0.2.200'] }),
  aPool({ name: 'labelled', labels: label, addresses: ['203.0.113.0/24'] }),
  aPool({ name: '198.51.100.8', addresses: ['203.0.114.0/24'] }),
  aPeer({ name: 'office', myASN: 65000, peerASN: 64512, peerAddress: '10.9.9.9' }),
  aPeer({ name: 'router', labels: label, myASN: 65000, peerASN: 65530, peerAddress: '169.254.255.1' }),
  aPeer({ name: 'as65001', myASN: 65001, peerASN: 64512, peerAddress: '10.9.9.8', nodeSelectors: on('node-a') }),
  aPeer({ name: 'of-b', myASN: 65001, peerASN: 65530, peerAddress: '169.254.255.1', nodeSelectors: on('node-b') }),
  aPeer({ name: 'with-id', myASN: 65000, routerID: '10.0.0.1', peerASN: 64512, peerAddress: '10.9.9.7' }),
  aPeer({ name: 'vrf', vrf: 'red', myASN: 65001, peerASN: 65530, peerAddress: '169.254.255.1' }),
  aPeer({ name: 'node-a.169.254.255.1', vrf: 'x', myASN: 65000, peerASN: 65530, peerAddress: '10.9.9.6' }),
  anAdvertisement({ name: 'everything' }),
  anAdvertisement({ name: 'everything-preferred', localPref: 100 }),
  anAdvertisement({ name: 'everything-longer', asPathPrepend: 2 }),
  anAdvertisement({ name: 'some', ipAddressPools: ['198.51.100.7', 'default.web'], localPref: 200 }),
  anAdvertisement({
    name: 'replacing',
    labels: label,
    ipAddressPoolSelectors: [{ matchLabels: label }],
    localPref: 50,
  }),
  anAdvertisement({
    name: 'counted',
    ipAddressPoolSelectors: [{ matchLabels: { 'service-web': 'namespace-default' } }],
    localPref: 7,
  }),
  anAdvertisement({ name: 'rolled-up', aggregationLength: 24, localPref: 9, ipAddressPools: ['198.51.100.7'] }),
]

function on(...values: string[]): LabelSelector[] {
  return [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }] }]
}

/** Some of what other people may have made. */
export const peoples: fc.Arbitrary<KubeObject[]> = fc.subarray(people, { maxLength: 3 })

/** Some of what a predecessor may have left. */
export const inherited: fc.Arbitrary<KubeObject[]> = fc.subarray(Object.values<KubeObject>(left))
