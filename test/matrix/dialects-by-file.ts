// In which dialects a file of this folder runs unless a word names another one. A file that is not listed runs in every
// dialect, because the vendors differ in what it tests. smoke.test.ts shows in every dialect what the others share.
import type { DialectName } from '../../sandbox/dialects.ts'

export const dialectsByFile: Record<string, readonly DialectName[]> = {
  // MetalLB reads custom resources on one, a ConfigMap on the other.
  announcing: ['equinix-metal', 'packet'],
  'api-server-trouble': ['packet'],
  // The two clouds; packet differs from Equinix Metal in settings and tags alone.
  chaos: ['equinix-metal', 'cherry-servers'],
  create: ['equinix-metal'],
  'dry-run': ['packet'],
  guards: ['cherry-servers'],
  hostile: ['packet'],
  lifecycle: ['cherry-servers'],
  manifest: ['equinix-metal'],
  // A predecessor on Packet did not mark its cluster: here a second cluster is told apart by the least.
  neighbours: ['packet'],
  // The two BGP APIs. Packet has the one of Equinix Metal; smoke.test.ts shows its annotations.
  peering: ['equinix-metal', 'cherry-servers'],
  // Cherry Servers limits the calls of a machine, Equinix Metal takes many at once.
  races: ['equinix-metal', 'cherry-servers'],
  // A Service can request a location, by an annotation; on packet it cannot, which smoke.test.ts shows.
  refusals: ['equinix-metal'],
  'rejected-later': ['packet'],
  replicas: ['equinix-metal'],
  'request-annotations': ['cherry-servers'],
  'restored-backup': ['cherry-servers'],
  untouched: ['packet'],
}
