import type { Access, DialectName } from './dialects.ts'

type Annotations = Record<string, string>

/** The examples of the demo and the sandbox in a cluster of one dialect. */
export type DialectExamples = {
  /** A location other than the default, and the annotations that request it; absent if there is only one. */
  otherLocation?: { name: string; code: string; annotations: Annotations }
  /** Annotations with mistakes, and the correction that the error proposes. */
  mistake: { annotations: Annotations; hint: string }
  /** The ConfigMap from which MetalLB reads its address pools by default; absent where there is none. */
  configMap?: { namespace: string; name: string }
  /** How the provider ID of a machine begins. */
  scheme: string
  /** The Node annotation that holds the address of the node's first router; absent where nodes have none. */
  routerAnnotation?: string
  /**
   * The setting with which addresses are assigned to nodes of the sandbox; absent where the provider announces them by BGP.
   */
  assigned?: Record<string, string>
  /** The vendor's own command line, and the environment with which it calls the simulated cloud; absent where it has none. */
  client?: { program: string; env: (access: Access) => Record<string, string> }
}

export const dialectExamples: Record<DialectName, DialectExamples> = {
  'equinix-metal': {
    otherLocation: { name: 'Silicon Valley', code: 'sv', annotations: { 'metal.equinix.com/eip-metro': 'sv' } },
    mistake: {
      annotations: { 'metal.equinix.com/eip-metro': 'dallas', 'metal.equinix.com/eip-facilty': 'da11' },
      hint: 'did you mean "da"',
    },
    scheme: 'equinixmetal://',
    routerAnnotation: 'metal.equinix.com/bgp-peers-0-peer-ip',
  },
  packet: {
    mistake: { annotations: { 'eip-admission.dev/reclaim-polcy': 'Retain' }, hint: 'reclaim-policy' },
    configMap: { namespace: 'metallb-system', name: 'config' },
    scheme: 'packet://',
    routerAnnotation: 'packet.com/peer.ips',
  },
  'cherry-servers': {
    otherLocation: {
      name: 'Amsterdam',
      code: 'NL-Amsterdam',
      annotations: { 'cherryservers.com/fip-region': 'NL-Amsterdam' },
    },
    mistake: {
      annotations: { 'cherryservers.com/fip-region': 'LT-Siaulai', 'cherryservers.com/fip-regoin': 'LT-Siauliai' },
      hint: 'did you mean "LT-Siauliai"',
    },
    scheme: 'cherryservers://',
    routerAnnotation: 'cherryservers.com/bgp-peers-0-peer-ip',
  },
  hetzner: {
    otherLocation: { name: 'Helsinki', code: 'hel1', annotations: { 'eip-admission.dev/location': 'hel1' } },
    mistake: {
      annotations: { 'eip-admission.dev/location': 'hell', 'eip-admission.dev/locaton': 'hel1' },
      hint: 'did you mean "hel1"',
    },
    scheme: 'hcloud://',
    // These machines do not exist, so no probe may be sent to their addresses.
    assigned: { HCLOUD_LOAD_BALANCER: 'assign:///?probe=off' },
    client: { program: 'hcloud', env: ({ url, token }) => ({ HCLOUD_ENDPOINT: url, HCLOUD_TOKEN: token }) },
  },
  scaleway: {
    mistake: { annotations: { 'eip-admission.dev/reclaim-polcy': 'Retain' }, hint: 'reclaim-policy' },
    scheme: 'scaleway://baremetal/fr-par-1/',
    assigned: { SCW_LOAD_BALANCER: 'assign:///?probe=off' },
    client: {
      program: 'scw',
      env: ({ url, project, token }) => ({
        SCW_API_URL: url,
        SCW_ACCESS_KEY: 'SCW00000000000000000',
        SCW_SECRET_KEY: token,
        SCW_DEFAULT_PROJECT_ID: project,
        SCW_DEFAULT_ORGANIZATION_ID: project,
        SCW_DEFAULT_ZONE: 'fr-par-1',
      }),
    },
  },
  phoenixnap: {
    mistake: { annotations: { 'eip-admission.dev/reclaim-polcy': 'Retain' }, hint: 'reclaim-policy' },
    scheme: 'phoenixnap://',
    routerAnnotation: 'phoenixnap.com/bgp-peers-0-peer-ip',
  },
}
