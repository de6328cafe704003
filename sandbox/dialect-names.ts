/** The dialects of clouds whose routers speak BGP with machines. */
export const bgpDialectNames = ['equinix-metal', 'packet', 'cherry-servers', 'phoenixnap'] as const

/** The dialects, apart from their simulated clouds, which take long to load. */
export const dialectNames = [...bgpDialectNames, 'hetzner', 'scaleway'] as const

export type DialectName = (typeof dialectNames)[number]
export type BgpDialectName = (typeof bgpDialectNames)[number]

/** Whether the routers of a dialect's cloud speak BGP with machines. */
export function hasBgp(name: DialectName): name is BgpDialectName {
  return bgpDialectNames.some((one) => one === name)
}
