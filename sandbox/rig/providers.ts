import type { DialectName } from '../dialects.ts'

/** The routers of a provider, and what they take a machine of its for. */
export type Provider = {
  routers: readonly string[]
  asn: number
  /** Their network, its address that is the routers' end of the wire, and what they call themselves. */
  machines: { network: string; gateway: string; asn: number }
}

const equinixMetal: Provider = {
  routers: ['169.254.255.1', '169.254.255.2'],
  asn: 65_530,
  machines: { network: '10.0.0.0/8', gateway: '10.0.0.1', asn: 65_000 },
}

/** Those of Cherry Servers' first region; machines speak from their public addresses, as the simulated one has them. */
const cherryServers: Provider = {
  routers: ['46.166.166.122', '46.166.166.123'],
  asn: 16_125,
  // The cloud chooses: this is what it says to the first project that asks.
  machines: { network: '198.19.0.0/16', gateway: '198.19.0.1', asn: 64_667 },
}

/** With whom machines speak BGP in the cloud of each dialect. */
export const providers = {
  'equinix-metal': equinixMetal,
  packet: equinixMetal,
  'cherry-servers': cherryServers,
} as const satisfies Record<DialectName, Provider>
