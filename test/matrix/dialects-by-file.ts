// The dialects in which a file of this folder runs unless a word names another one. A file that is not listed runs in
// every dialect with BGP, because it tests where vendors differ. smoke.test.ts and smoke-bgp.test.ts show the common
// behaviour in each dialect.
import { type DialectName, dialectNames } from '../../sandbox/dialect-names.ts'

export type DialectsOfFile = {
  complete: readonly DialectName[]
  /** In these dialects, only the tests that involve the vendor's API run. */
  cloudOnly?: readonly DialectName[]
}

export const dialectsByFile: Record<string, DialectsOfFile> = {
  // The text of Services and records, which no vendor has a part in. Packet's predecessor wrote the fewest marks.
  // Others are adopted on the other cloud, and in takeover-apply.test.ts.
  adoption: { complete: ['cherry-servers'], cloudOnly: ['packet'] },
  // Tables in test/ledger/available show which addresses a Service may claim and how a pool is filled.
  available: { complete: ['equinix-metal'] },
  // The text of Services and records, which no vendor has a part in.
  'available-in-use': { complete: ['equinix-metal'] },
  // MetalLB reads custom resources on one, a ConfigMap on the other.
  announcing: { complete: ['equinix-metal', 'packet'] },
  'as-person': { complete: ['equinix-metal'] },
  'available-crash': { complete: ['cherry-servers'] },
  // The other cloud carries the heartbeat in restored-backup.test.ts.
  clone: { complete: ['equinix-metal'] },
  'young-copy': { complete: ['equinix-metal'] },
  // A kill during a write to the API server is the same in every dialect, but not a kill during a call to the cloud.
  // Packet's cloud is Equinix Metal's.
  crash: { complete: ['equinix-metal'], cloudOnly: ['cherry-servers', 'hetzner', 'scaleway', 'phoenixnap'] },
  'api-server-trouble': { complete: ['packet'] },
  // Every cloud; packet differs from Equinix Metal only in settings and tags. On Hetzner Cloud nodes fail, and
  // addresses move.
  chaos: { complete: dialectNames.filter((name) => name !== 'packet') },
  // The clouds differ: a move takes one call, two calls, or an action that runs for a while.
  'control-plane': { complete: ['equinix-metal'], cloudOnly: ['packet', 'cherry-servers', 'hetzner', 'scaleway'] },
  // Only Equinix Metal grants addresses late. The other cloud has other ways to find a reservation again.
  'cloud-trouble': {
    complete: ['equinix-metal'],
    cloudOnly: ['cherry-servers', 'hetzner', 'scaleway', 'phoenixnap'],
  },
  create: { complete: ['equinix-metal'] },
  'dry-run': { complete: ['packet'] },
  'former-services': { complete: ['equinix-metal'] },
  guards: { complete: ['cherry-servers'] },
  'handed-over': { complete: ['equinix-metal'] },
  hostile: { complete: ['packet'] },
  // Cherry Servers' cloud lists a deleted reservation for a while.
  lifecycle: { complete: ['equinix-metal'], cloudOnly: ['cherry-servers', 'hetzner', 'scaleway', 'phoenixnap'] },
  manifest: { complete: ['equinix-metal'] },
  // The clouds differ only in the names of the Service and of the tag.
  'mirror-adoption': { complete: ['packet'] },
  'mirror-service': { complete: ['equinix-metal'] },
  // A predecessor on Packet did not mark its cluster, so two clusters have the fewest marks to tell them apart.
  neighbours: { complete: ['packet'] },
  // The two BGP APIs. Packet has Equinix Metal's; smoke-bgp.test.ts shows its annotations.
  peering: { complete: ['equinix-metal', 'cherry-servers'] },
  // Cherry Servers limits the calls of a machine, Equinix Metal takes many at once.
  races: { complete: ['equinix-metal', 'cherry-servers'] },
  // A Service can request a location by an annotation, except on packet, which smoke.test.ts shows.
  refusals: { complete: ['equinix-metal'] },
  // A table in test/ledger/want has the decision. This cloud lists a deleted reservation for a while.
  'own-addresses': { complete: ['cherry-servers'] },
  'pending-edits': { complete: ['equinix-metal'] },
  'rejected-later': { complete: ['packet'] },
  // The common behaviour, once in every dialect.
  smoke: { complete: dialectNames },
  // Every cloud has another way to show and to delete a reservation; Packet's cloud is Equinix Metal's.
  sweep: { complete: dialectNames.filter((name) => name !== 'packet') },
  replicas: { complete: ['equinix-metal'] },
  // All clients send a rotated token in the same way: test/clouds/http.
  reload: { complete: ['equinix-metal'] },
  'request-annotations': { complete: ['cherry-servers'] },
  // The objects of Equinix Metal's predecessor are taken over in test/rig/takeover.
  'rig/adopted-objects': { complete: ['cherry-servers'] },
  // The dialects differ in the peers that they know, which smoke-bgp.test.ts shows.
  'rig/announce': { complete: ['equinix-metal', 'cherry-servers', 'phoenixnap'] },
  'rig/kube-vip': { complete: ['equinix-metal', 'cherry-servers'] },
  'restored-backup': { complete: ['cherry-servers'] },
  // A table in test/commands/takeover shows what each predecessor writes for MetalLB.
  'takeover-apply': { complete: ['equinix-metal'] },
  // test/commands/takeover reads the settings of each dialect; takeover-shapes.test.ts plans in the two others.
  'takeover-plan': { complete: ['cherry-servers'] },
  'takeover-shapes': { complete: ['equinix-metal', 'packet'] },
  untouched: { complete: ['packet'] },
}
