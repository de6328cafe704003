import type { Location } from '../ports/cloud.ts'

/** The zones in which Elastic Metal has flexible IPs, by the vendor's own SDK of 2025. */
export const zones: readonly Location[] = [
  ['fr-par-1', 'Paris 1'],
  ['fr-par-2', 'Paris 2'],
  ['nl-ams-1', 'Amsterdam 1'],
  ['nl-ams-2', 'Amsterdam 2'],
  ['pl-waw-2', 'Warsaw 2'],
  ['pl-waw-3', 'Warsaw 3'],
].map(([code = '', name = '']) => ({ code, name, kind: 'zone' }))
