import { softwareCheck } from './announcers.ts'

/** A check that a takeover runs as well. */
export const overlappingPools = softwareCheck('overlapping-pools')
