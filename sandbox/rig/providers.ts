import type { BgpDialectName } from '../dialect-names.ts'

/** The routers of a provider, and the BGP facts of its machines. */
export type Provider = {
  routers: readonly string[]
  asn: number
  /** The machines' network, its gateway at the routers' end of the cable, and the machines' ASN. */
  machines: { network: string; gateway: string; asn: number }
}

const equinixMetal: Provider = {
  routers: ['169.254.255.1', '169.254.255.2'],
  asn: 65_530,
  machines: { network: '10.0.0.0/8', gateway: '10.0.0.1', asn: 65_000 },
}

/** The routers of Cherry Servers' first region. Machines peer from their public addresses in the simulated cloud. */
const cherryServers: Provider = {
  routers: ['46.166.166.122', '46.166.166.123'],
  asn: 16_125,
  // The cloud chooses the ASN: this is the first one that the simulated cloud assigns.
  machines: { network: '198.19.0.0/16', gateway: '198.19.0.1', asn: 64_667 },
}

/** The loopbacks of phoenixNAP's routers, to which machines peer from their public addresses. */
const phoenixnap: Provider = {
  routers: ['169.254.247.0', '169.254.247.1'],
  asn: 65_400,
  machines: { network: '198.51.100.0/24', gateway: '198.51.100.254', asn: 65_401 },
}

/** The routers with which machines peer in the cloud of each dialect. */
export const providers = {
  'equinix-metal': equinixMetal,
  packet: equinixMetal,
  'cherry-servers': cherryServers,
  phoenixnap,
} as const satisfies Record<BgpDialectName, Provider>
