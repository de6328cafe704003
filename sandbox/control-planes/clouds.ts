import { openCherryServers } from './cherry-servers.ts'
import { openEquinixMetal } from './equinix-metal.ts'

/** The clouds whose addresses can be assigned to one machine, by dialect. */
export const clouds = { 'equinix-metal': openEquinixMetal, 'cherry-servers': openCherryServers } as const

export type CloudName = keyof typeof clouds
