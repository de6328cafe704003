// How the machines of each dialect speak BGP, and which versions of MetalLB its users have.
import type { Fault } from '../../sandbox/clouds/faults.ts'
import type { BgpDialectName } from '../../sandbox/dialect-names.ts'
import type { MetallbVersion } from '../../sandbox/metallb/build.ts'
import type { MetallbMode } from '../../sandbox/rig/metallb-args.ts'
import { type Provider, providers } from '../../sandbox/rig/providers.ts'

export type BgpFacts = {
  /** The routers that machines have sessions with. */
  provider: Provider
  /** Whether sessions use the public or the private address of a machine. */
  source: 'public' | 'private'
  /** All peer annotations of a node with this address, without a password. */
  says(source: string): Record<string, string>
  /** The annotation with the private network of a node; absent if there is none. */
  networkAnnotation?: string
  /** The setting of the project's password, and a valid password; absent if there is none. */
  password?: { setting: string; value: string }
  /** The settings that select nodes, and that set the project's ASN; absent if there are none. */
  nodeSelector?: string
  localAsn?: string
  /** The calls that only concern BGP, and the call that enables it for a machine. */
  isAbout: RegExp
  enabling: string
  /** Paths that only BGP needs, without those of locations, for which a start waits. */
  paths: string[]
  /** A fault that hides the routers of a machine; absent if there is none. */
  noRouters?: Fault
  /** Disables BGP for a machine, as another tool does. */
  takeAway(account: Account, machine: string): Promise<void>
  /** A well-formed providerID without a machine. */
  unknownMachine: string
  metallb: MetallbSetup[]
  kubeVip: KubeVipSetup
}

type Account = { cloud: { url: string; controlUrl: string }; token: string }

/** A version of MetalLB, in native mode unless given, and the load balancer setting for it. */
export type MetallbSetup = { version: MetallbVersion; setting: string; mode?: MetallbMode }

/** The settings of the product, and annotations by hand, that kube-vip needs to find its peers. */
export type KubeVipSetup = {
  prefix: string
  env: Record<string, string>
  byHand(source: string): Record<string, string>
}

const unknownMachine = '3d1f7f0a-8a6f-4a3c-b7a4-52c0d9e8f711'
const customResources = 'metallb:///metallb-system?crdConfiguration=true'
const configMap = 'metallb:///metallb-system/config'

const metal = {
  source: 'private',
  isAbout: /bgp/,
  enabling: 'POST /devices/{id}/bgp/sessions',
  paths: ['/projects/*/bgp-config', '/projects/*/bgp/sessions', '/devices/**'],
  noRouters: { on: 'GET /devices/*/bgp/neighbors', answer: 'empty-list' },
  async takeAway({ cloud, token }, machine) {
    const headers = { 'x-auth-token': token }
    const answer = await fetch(`${cloud.url}/devices/${machine}/bgp/sessions`, { headers })
    const { bgp_sessions: sessions } = (await answer.json()) as { bgp_sessions: { id: string }[] }
    for (const { id } of sessions) {
      const { status } = await fetch(`${cloud.url}/bgp/sessions/${id}`, { method: 'DELETE', headers })
      if (status !== 204) throw new Error(`the provider answered ${status}`)
    }
  },
} as const satisfies Partial<BgpFacts>

/** Each dialect has the versions of MetalLB that its users have; together they have every version. */
const facts: Record<BgpDialectName, BgpFacts> = {
  'equinix-metal': {
    ...metal,
    provider: providers['equinix-metal'],
    says: (source) => numbered('metal.equinix.com', providers['equinix-metal'], { 'src-ip': source }),
    networkAnnotation: 'metal.equinix.com/network-4-private',
    password: { setting: 'METAL_BGP_PASS', value: 'Secret12345abc' },
    nodeSelector: 'METAL_BGP_NODE_SELECTOR',
    localAsn: 'METAL_LOCAL_ASN',
    unknownMachine: `equinixmetal://${unknownMachine}`,
    metallb: [
      { version: '0.16.1', setting: customResources },
      { version: '0.11.0', setting: configMap },
    ],
    kubeVip: { prefix: 'metal.equinix.com', env: {}, byHand: () => ({}) },
  },
  packet: {
    ...metal,
    provider: providers.packet,
    says: () => ({
      'packet.com/node.asn': '65000',
      'packet.com/peer.asns': '65530',
      'packet.com/peer.ips': providers.packet.routers.join(),
    }),
    localAsn: 'PACKET_LOCAL_ASN',
    unknownMachine: `packet://${unknownMachine}`,
    // Packet is older than the custom resources.
    metallb: [{ version: '0.11.0', setting: configMap }],
    kubeVip: {
      prefix: 'packet.com',
      env: {
        PACKET_ANNOTATION_LOCAL_ASN: 'packet.com/node-asn',
        PACKET_ANNOTATION_PEER_ASNS: 'packet.com/peer-asn',
        PACKET_ANNOTATION_PEER_IPS: 'packet.com/peer-ip',
      },
      // Packet's annotations name the peers only, not the source address.
      byHand: (source) => ({ 'packet.com/src-ip': source }),
    },
  },
  'cherry-servers': {
    provider: providers['cherry-servers'],
    source: 'public',
    says: (source) =>
      numbered('cherryservers.com', providers['cherry-servers'], { 'src-ip': source, 'peer-multi-hop': 'true' }),
    networkAnnotation: 'cherryservers.com/network-4-private',
    nodeSelector: 'CHERRY_BGP_NODE_SELECTOR',
    isAbout: /^PUT \/(projects|servers)|^GET \/projects\/\{id\}$/,
    enabling: 'PUT /servers/{id}',
    paths: ['/projects/*', '/projects/*/servers', '/servers/*'],
    async takeAway({ cloud }, machine) {
      const { ok } = await fetch(`${cloud.controlUrl}/devices/${machine}/bgp/off`, { method: 'POST' })
      if (!ok) throw new Error(`BGP stays on for server ${machine}`)
    },
    unknownMachine: 'cherryservers://999999',
    metallb: [
      { version: '0.13.12', setting: 'metallb:///metallb-system/' },
      { version: '0.16.1', setting: 'metallb:///metallb-system/?bgp-peer-mode=frr', mode: 'frr' },
    ],
    kubeVip: { prefix: 'cherryservers.com', env: {}, byHand: () => ({}) },
  },
  phoenixnap: {
    provider: providers.phoenixnap,
    source: 'public',
    says: (source) => numbered('phoenixnap.com', providers.phoenixnap, { 'src-ip': source, 'peer-multi-hop': 'true' }),
    password: { setting: 'PNAP_BGP_PASS', value: 'Secret12345abc' },
    nodeSelector: 'PNAP_BGP_NODE_SELECTOR',
    localAsn: 'PNAP_LOCAL_ASN',
    isAbout: /bgp/,
    enabling: 'POST /networks/v1/bgp-peer-groups',
    paths: ['/networks/v1/bgp-peer-groups', '/bmc/v1/servers/**'],
    // A single server cannot lose it.
    async takeAway({ cloud }) {
      const { ok } = await fetch(`${cloud.controlUrl}/peer-groups/PHX`, { method: 'DELETE' })
      if (!ok) throw new Error('the peer group stays')
    },
    unknownMachine: 'phoenixnap://0123456789abcdef01234567',
    metallb: [{ version: '0.16.1', setting: customResources }],
    kubeVip: { prefix: 'phoenixnap.com', env: {}, byHand: () => ({}) },
  },
}

/** The BGP facts of a dialect. */
export function bgpFacts(name: BgpDialectName): BgpFacts {
  return facts[name]
}

/** Returns an annotation for each fact of each session. */
function numbered(prefix: string, { routers, asn, machines }: Provider, others: Record<string, string>) {
  const output = routers.flatMap((router, n) => {
    const each = { 'node-asn': String(machines.asn), 'peer-asn': String(asn), 'peer-ip': router, ...others }
    return Object.entries(each).map(([datum, value]) => [`${prefix}/bgp-peers-${n}-${datum}`, value] as const)
  })
  return Object.fromEntries(output)
}
