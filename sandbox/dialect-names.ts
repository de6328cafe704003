/** The dialects, apart from their simulated clouds, which take long to load. */
export const dialectNames = ['equinix-metal', 'packet', 'cherry-servers'] as const

export type DialectName = (typeof dialectNames)[number]
