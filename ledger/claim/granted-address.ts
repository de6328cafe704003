// Whether an address that the cloud grants can be a Service's. A cloud's answer is checked as an own address is. A record
// with a problem keeps the reservation and gets no address. Services of a namespace may share what all of them show.
//
// The caches name who might hold it. Only what the API server has now counts: a Service may have been deleted a moment ago,
// and clouds grant its address again.
import type { Cloud } from '../../clouds/ports/cloud.ts'
import { type Service, keyOf } from '../../kube/objects.ts'
import { type IpAddress, canonicalIpAddress, familyNames, parseIpAddress } from '../../lib/ip-address.ts'
import { quote } from '../../lib/text.ts'
import { statusAddresses } from '../record/shown.ts'
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
  /** The cloud's current answer. */
  reservation: Cloud['reservation']
  want: (service: Service) => Want
  monotonicMs: () => number
}

type UsedAddress = { address: string; reservationID: string }

/** Checks the grants of one process. It remembers its own, so that no two claims at the same time share a reservation. */
export function grantedCheck(facts: GrantedFacts): LedgerDeps['grantedProblem'] {
  const recent = recentGrants(facts.monotonicMs)
  return async (record, { id, address: text = '' }, signal) => {
    const address = parseIpAddress(text)
    if (!address) return `reservation ${id} is ${quote(text)}, which is no IP address`
    const used = { address: address.text, reservationID: id }
    // It is looked up before it is remembered, and nothing happens in between: the later of two grants sees the earlier
    // one.
    const holder = holderOf(facts, recent, { record, used })
    recent.remember({ ...record, status: { ...record.status, phase: 'Reserved', ...used } })
    const problem =
      unusable(address, facts.clusterNetwork) ??
      wrongFamily(record, address) ??
      (await holder) ??
      (await undeletedHolderOf(facts, { record, used }, signal)) ??
      (await viewerOf(facts, record, address.text))
    if (problem === undefined) return undefined
    recent.forget(record)
    return `reservation ${id} is ${address.text}, which ${problem}`
  }
}

/** A cache shows within this time what this process has stored. */
const unseenMs = 60_000

type RecentGrants = ReturnType<typeof recentGrants>

/** Grants of this process that its caches may not show yet. */
function recentGrants(monotonicMs: () => number) {
  const grants = new Map<string, { record: ElasticIP; atMs: number }>()
  return {
    remember(record: ElasticIP): void {
      for (const [name, { atMs }] of grants) if (monotonicMs() - atMs > unseenMs) grants.delete(name)
      grants.set(record.metadata.name, { record, atMs: monotonicMs() })
    },
    forget: ({ metadata }: ElasticIP): void => void grants.delete(metadata.name),
    has: (name: string): boolean => grants.has(name),
    records: (): ElasticIP[] => [...grants.values()].map(({ record }) => record),
  }
}

/**
 * Whether a new address is not of the family that was ordered, for a message. A reservation that a person named may have
 * any.
 */
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
  const names = holdersIn([...cached.records(), ...recent.records()], record, used)
  for (const name of new Set(names)) {
    const current = await stored.record(name).catch(unread)
    const isHolder =
      current === 'unread' ||
      (current !== undefined &&
        (holdersIn([current], record, used).length > 0 ||
          // A record that this process is about to store.
          (recent.has(name) && reservationIdOf(current) === undefined)))
    if (isHolder) return `ElasticIP ${name} holds already`
  }
  return undefined
}

/**
 * Which other reservation has the address still, although we asked the cloud to delete it, for a message. A Service that
 * showed the address would keep that deletion from being sent again.
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
 * Which other Service shows an address that its own does not show, for a message. One of its namespace that requests the
 * address only shares what this record holds.
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

/** A failed read counts as in use: the reservation is kept, and a later claim looks again. */
const unread = () => 'unread' as const

/** Why an address can be no Service's of this cluster; undefined for an ordinary one. */
export function unusable(address: IpAddress, clusterNetwork: LedgerDeps['clusterNetwork']): string | undefined {
  const network = clusterNetwork(address)
  return specialKind(address) ?? (network === undefined ? undefined : `is ${network} of this cluster`)
}

/**
 * The names of the other records that hold an address or its reservation. A record shares both with its source. A record
 * being released holds them until the cloud was asked to delete the reservation: then the address may be granted again.
 */
function holdersIn(all: readonly ElasticIP[], record: ElasticIP, used: UsedAddress): string[] {
  const holders = all.filter(({ metadata, status = {} }) => {
    if (metadata.name === record.metadata.name || status.deletionRequestedAt !== undefined) return false
    const isSame = status.reservationID === used.reservationID
    return isSame || canonicalIpAddress(status.address ?? '') === used.address
  })
  // A warm record may have the name of an older one, whose reservation went to a Service.
  const isShared = (other: ElasticIP) =>
    other.status?.reservationID === used.reservationID && (hasSource(record, other) || hasSource(other, record))
  return holders.filter((other) => !isShared(other)).map(({ metadata }) => metadata.name)
}
