// Whether a Service may have an address that the provider grants: a grant gets the same checks as a user-chosen address. If
// there is a problem, the record keeps the reservation and gets no address. Services of a namespace may share an
// address that all of them show.
//
// The caches name possible holders, and live reads decide: a holder may have been deleted a moment ago, and providers
// reuse addresses.
import type { Cloud } from '../../clouds/ports/cloud.ts'
import { type Service, keyOf } from '../../kube/objects.ts'
import { type IpAddress, canonicalIpAddress, familyNames, parseIpAddress } from '../../lib/ip-address.ts'
import { type ShortMemory, shortMemory } from '../../lib/short-memory.ts'
import { quote } from '../../lib/text.ts'
import { statusAddresses } from '../record/address-use.ts'
import { type ElasticIP, claimKey, reservationIdOf } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { hasSource, isSource } from '../record/source.ts'
import { requestsAsOwn, specialKind } from '../want/own-address-rules.ts'
import type { Want } from '../want/want.ts'

export type GrantedFacts = {
  clusterNetwork: LedgerDeps['clusterNetwork']
  /** The contents of the caches; only those Services that may use an address. */
  cached: { records: () => readonly ElasticIP[]; services: (address: string) => readonly Service[] }
  /** The current contents of the API server. */
  stored: {
    record: (name: string) => Promise<ElasticIP | undefined>
    service: (of: Service) => Promise<Service | undefined>
  }
  /** The provider's current answer. */
  reservation: Cloud['reservation']
  want: (service: Service) => Want
  monotonicMs: () => number
}

type UsedAddress = { address: string; reservationID: string }

/** Checks the grants of one process, and remembers them, so that no two simultaneous claims share a reservation. */
export function grantedCheck(facts: GrantedFacts): LedgerDeps['grantedProblem'] {
  const recent: RecentGrants = shortMemory({ keptMs: unseenMs, monotonicMs: facts.monotonicMs })
  return async (record, { id, address: text = '' }, signal) => {
    const address = parseIpAddress(text)
    if (!address) return `reservation ${id} is ${quote(text)}, which is not an IP address`
    const used = { address: address.text, reservationID: id }
    // Look up, then remember, with no await in between: the later of two grants sees the earlier one.
    const holder = holderOf(facts, recent, { record, used })
    recent.set(record.metadata.name, { ...record, status: { ...record.status, phase: 'Reserved', ...used } })
    const problem =
      unusable(address, facts.clusterNetwork) ??
      wrongFamily(record, address) ??
      (await holder) ??
      (await undeletedHolderOf(facts, { record, used }, signal)) ??
      (await viewerOf(facts, record, address.text))
    if (problem === undefined) return undefined
    recent.delete(record.metadata.name)
    return `reservation ${id} is ${address.text}, which ${problem}`
  }
}

/** Within this time a cache shows what this process has stored. */
const unseenMs = 60_000

/** Grants of this process that its caches may not show yet, by the names of their records. */
type RecentGrants = ShortMemory<string, ElasticIP>

/** Why a new address is of the wrong family, for a message. A reservation that a person named may have any family. */
function wrongFamily({ spec }: ElasticIP, { family }: IpAddress): string | undefined {
  const { ipFamily = 'IPv4', reservationID } = spec
  return reservationID !== undefined || familyNames[family] === ipFamily ? undefined : `is no ${ipFamily} address`
}

/** Which other record has the address or the reservation, for a message. */
async function holderOf(
  { cached, stored }: GrantedFacts,
  recent: RecentGrants,
  { record, used }: { record: ElasticIP; used: UsedAddress },
): Promise<string | undefined> {
  const names = holdersIn([...cached.records(), ...recent.values()], record, used)
  for (const name of new Set(names)) {
    const current = await stored.record(name).catch(unread)
    const isHolder =
      current === 'unread' ||
      (current !== undefined &&
        (holdersIn([current], record, used).length > 0 ||
          // This process is about to store the record.
          (recent.has(name) && reservationIdOf(current) === undefined)))
    if (isHolder) return `ElasticIP ${name} holds already`
  }
  return undefined
}

/**
 * Which other reservation still has the address although we asked the provider to delete it, for a message. A Service
 * that showed the address would block a second request for that deletion.
 */
async function undeletedHolderOf(
  { cached, reservation }: GrantedFacts,
  { record, used }: { record: ElasticIP; used: UsedAddress },
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const { metadata, status = {} } of cached.records()) {
    const { deletionRequestedAt, reservationID: id } = status
    const isElse = metadata.name !== record.metadata.name && id !== used.reservationID
    if (!isElse || id === undefined || deletionRequestedAt === undefined) continue
    if (canonicalIpAddress(status.address ?? '') !== used.address) continue
    const left = await reservation(id, signal).catch(unread)
    const hasIt = left === 'unread' || canonicalIpAddress(left?.address ?? '') === used.address
    if (hasIt) return `reservation ${id} has until it is deleted`
  }
  return undefined
}

/**
 * Which other Service shows an address that the record's Service does not show, for a message. A Service of the same
 * namespace that requests the address only shares it.
 */
async function viewerOf(
  { cached, stored, want }: GrantedFacts,
  record: ElasticIP,
  address: string,
): Promise<string | undefined> {
  const shows = (service: Service) => statusAddresses(service).includes(address)
  const shares = (service: Service) =>
    service.metadata.namespace === record.spec.claimRef?.namespace && requestsAsOwn(want(service), address)
  const viewers = cached.services(address).filter(shows)
  if (isSource(record) || viewers.some((service) => keyOf(service) === claimKey(record))) return undefined
  for (const service of viewers) {
    const current = await stored.service(service).catch(unread)
    if (current === 'unread' || (current && shows(current) && !shares(current)))
      return `Service ${keyOf(service)} shows already`
  }
  return undefined
}

/** An unreadable record or Service counts as a holder: the reservation is kept, and a later claim looks again. */
const unread = () => 'unread' as const

/** Why no Service of this cluster can have an address; undefined for an ordinary one. */
export function unusable(address: IpAddress, clusterNetwork: LedgerDeps['clusterNetwork']): string | undefined {
  const network = clusterNetwork(address)
  return specialKind(address) ?? (network === undefined ? undefined : `is ${network} of this cluster`)
}

/**
 * The names of the other records that hold an address or its reservation. A record shares both with its source. A
 * record that is being released holds them until the provider was asked for the deletion: after that, it may grant the
 * address again.
 */
function holdersIn(all: readonly ElasticIP[], record: ElasticIP, used: UsedAddress): string[] {
  const holders = all.filter(({ metadata, status = {} }) => {
    if (metadata.name === record.metadata.name || status.deletionRequestedAt !== undefined) return false
    const isSame = status.reservationID === used.reservationID
    return isSame || canonicalIpAddress(status.address ?? '') === used.address
  })
  // A warm record may reuse the name of an older one whose reservation went to a Service.
  const isShared = (other: ElasticIP) =>
    other.status?.reservationID === used.reservationID && (hasSource(record, other) || hasSource(other, record))
  return holders.filter((other) => !isShared(other)).map(({ metadata }) => metadata.name)
}
