// What a person writes for Cilium: objects that announce single addresses to the cloud's routers.
import { providers } from '../../sandbox/rig/providers.ts'
import type { Machine } from '../../sandbox/rig/register-machine.ts'
import { password } from './stage.ts'

const { routers, asn, machines: ours } = providers['equinix-metal']
const apiVersion = 'cilium.io/v2'
const selected = { 'example.com/announced': 'yes' }

/** A pool of one address; it serves only Services that the selector matches. */
export function pool(name: string, address: string): object {
  const spec = { blocks: [{ cidr: `${address}/32` }], serviceSelector: { matchLabels: selected } }
  return { apiVersion, kind: 'CiliumLoadBalancerIPPool', metadata: { name }, spec }
}

/** A Service that requests an address; several of one sharing key may show the same. */
export function asking(name: string, address: string, port = 80): object {
  const annotations = { 'lbipam.cilium.io/ips': address, 'lbipam.cilium.io/sharing-key': address }
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default', labels: selected, annotations },
    spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port }] },
  }
}

/** The sessions of a machine with every router, from its own address. */
export function sessions({ name, address }: Machine): object[] {
  const peers = routers.map((peerAddress, n) => ({ name: `up-${n}`, peerAddress }))
  const cluster = peers.map((peer) => ({ ...peer, peerASN: asn, peerConfigRef: { name: 'cloud' } }))
  const local = peers.map((peer) => ({ name: peer.name, localAddress: address }))
  return [
    {
      apiVersion,
      kind: 'CiliumBGPNodeConfigOverride',
      metadata: { name },
      spec: { bgpInstances: [{ name: 'cloud', routerID: address, peers: local }] },
    },
    {
      apiVersion,
      kind: 'CiliumBGPClusterConfig',
      metadata: { name: `cloud-${name}` },
      spec: {
        nodeSelector: { matchLabels: { 'kubernetes.io/hostname': name } },
        bgpInstances: [{ name: 'cloud', localASN: ours.asn, peers: cluster }],
      },
    },
  ]
}

/** What all sessions have in common: the password, how they are held, and which Services they announce. */
export function common(secret = password): object[] {
  const advertise = { 'example.com/advertise': 'cloud' }
  return [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'cloud', namespace: 'kube-system' },
      stringData: { password: secret },
    },
    {
      apiVersion,
      kind: 'CiliumBGPPeerConfig',
      metadata: { name: 'cloud' },
      spec: {
        authSecretRef: 'cloud',
        ebgpMultihop: 2,
        timers: { connectRetryTimeSeconds: 1, holdTimeSeconds: 30, keepAliveTimeSeconds: 10 },
        families: [{ afi: 'ipv4', safi: 'unicast', advertisements: { matchLabels: advertise } }],
      },
    },
    {
      apiVersion,
      kind: 'CiliumBGPAdvertisement',
      metadata: { name: 'cloud', labels: advertise },
      spec: {
        advertisements: [
          {
            advertisementType: 'Service',
            service: { addresses: ['LoadBalancerIP'] },
            selector: { matchLabels: selected },
          },
        ],
      },
    },
  ]
}
