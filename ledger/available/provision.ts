import type { Reservation } from '../../clouds/ports/cloud.ts'
import { type LossConfirmation, isLossLikely } from '../identity/project-check.ts'
import { type ElasticIP, reservationIdOf } from '../record/elastic-ip.ts'
import { findCertainly, takeNamed, unusableReason } from '../record/find-reservation.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { type StatusChange, condition } from '../record/status.ts'
import { resetRecord } from '../record/reset-record.ts'
import { hasReservationOf, isSource, isWarm } from '../record/source.ts'
import { whoseIs } from '../record/marks.ts'
import { defined } from '../../lib/json.ts'

/**
 * Looks up the reservation that an operator named in an ElasticIP, so that Services can name that ElasticIP. If this
 * fails, writes the reason into its status and returns it.
 */
export async function provision(deps: LedgerDeps, source: ElasticIP, signal: AbortSignal): Promise<string | undefined> {
  const found = await findNamedReservation(deps, source, signal)
  if (typeof found !== 'string') return accept(deps, { source, reservation: found }, signal)
  if (source.status?.message !== found || source.status.observedGeneration !== source.metadata.generation)
    await deps.records.writeStatus(source, notProvisioned(deps, source, found), { signal })
  return found
}

/** The reservation that a record names, or why the record cannot have it. */
async function findNamedReservation(
  deps: LedgerDeps,
  source: ElasticIP,
  signal: AbortSignal,
): Promise<Reservation | string> {
  const id = source.spec.reservationID
  const { name } = deps.cloud
  if (id === undefined) return "spec.reservationID is missing: set it to the id of one of the project's reservations"
  const owner = ownerOf(source, await deps.records.list({ signal }))
  if (owner) return `reservation ${id} belongs to ElasticIP ${owner.metadata.name} already`
  // A lookup by id might return a reservation of another project, so this searches the project's list.
  const found = (await deps.cloud.reservations({}, signal)).find((reservation) => reservation.id === id)
  if (!found) return `${name} has no reservation ${id} of public addresses in this project; check spec.reservationID`
  if (found.state === 'denied') return `${name} denied the request for reservation ${id}`
  const lost = lostAddress(source)
  if (lost !== undefined && found.address !== lost)
    return `reservation ${id} was ${lost}, and is now ${found.address}: to use that one, delete this ElasticIP and create it again`
  const reason = unusableReason(deps, source, found)
  if (reason !== undefined) return reason
  if (found.state === 'requested' || found.address === undefined) return `${name} has not granted reservation ${id} yet`
  const wrong = await deps.grantedProblem(source, found, signal)
  if (wrong !== undefined) return `${name} says that ${wrong}: no Service can have it`
  const { location = found.location } = source.spec
  if (location === found.location) return found
  return `reservation ${id} is in ${found.location ?? 'no location'}, but spec.location is ${location}; correct or remove it`
}

/** The other record that already owns the reservation; of two provisioned ones that name it, the older one. */
function ownerOf(source: ElasticIP, all: ElasticIP[]): ElasticIP | undefined {
  const ageOrder = ({ metadata }: ElasticIP) => `${metadata.creationTimestamp} ${metadata.name}`
  return all
    .filter(({ metadata }) => metadata.name !== source.metadata.name)
    .filter((other) => reservationIdOf(other) === source.spec.reservationID && !hasReservationOf(other, source))
    .find(
      (other) => !isSource(other) || other.status?.reservationID !== undefined || ageOrder(other) < ageOrder(source),
    )
}

async function accept(
  deps: LedgerDeps,
  { source, reservation }: { source: ElasticIP; reservation: Reservation },
  signal: AbortSignal,
): Promise<undefined> {
  const { id, address, location } = reservation
  await takeNamed(deps, { record: source, found: reservation }, signal)
  const current = await deps.records.writeSpec(source, { ...source.spec, ...defined({ location }) }, { signal })
  const facts = { status: 'True', reason: 'Provisioned', message: `reservation ${id}`, now: deps.now() } as const
  const change: StatusChange = {
    phase: 'Available',
    ...defined({ address }),
    reservationID: id,
    message: null,
    conditions: [condition('Reserved', facts)],
  }
  await deps.records.writeStatus(current, change, { signal })
  deps.log.info({ record: source.metadata.name, address, reservation: id }, 'address provisioned')
}

/**
 * Writes off a provisioned address that the provider no longer has. Its Service loses it, because the address may
 * already belong to another customer.
 */
async function writeOffProvisioned(
  deps: LedgerDeps,
  { source, record }: { source: ElasticIP; record: ElasticIP | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { address, reservationID } = source.status ?? {}
  const reason = `${deps.cloud.name} no longer has ${address}, reservation ${reservationID}`
  const facts = { record: source.metadata.name, address, reservation: reservationID }
  deps.log.error(facts, 'the provider no longer has this address')
  if (record && hasReservationOf(record, source)) await resetRecord(deps, record, signal)
  const lost = condition('Reserved', { status: 'False', reason: lostReason, message: address ?? '', now: deps.now() })
  const gone = { address: null, reservationID: null }
  const change: StatusChange = { phase: 'Requested', message: reason, conditions: [lost], ...gone }
  await deps.records.writeStatus(source, change, { signal })
}

const lostReason = 'Lost'

/** The address that was written off. The provider may reuse its id for an unrelated order. */
function lostAddress({ status }: ElasticIP): string | undefined {
  return status?.conditions?.find(({ reason }) => reason === lostReason)?.message
}

function notProvisioned(deps: LedgerDeps, source: ElasticIP, message: string): StatusChange {
  const facts = { status: 'False', reason: 'NotProvisioned', message, now: deps.now() } as const
  const conditions = lostAddress(source) === undefined ? { conditions: [condition('Reserved', facts)] } : {}
  return { phase: 'Requested', message, ...conditions }
}

export type ProvisionedSeen = { source: ElasticIP | undefined; record: ElasticIP | undefined }

/** When a missing address is checked again: it may already be another customer's, and a Service may still announce it. */
const secondCheckMs = 30_000

export type ProvisionedChecks = {
  /** Returns when to check again. */
  check: (seen: ProvisionedSeen, signal: AbortSignal) => Promise<{ againInMs?: number }>
  /** Forgets the results of previous checks: between two terms of a leader much may have happened. */
  forget: () => void
}

/**
 * Checks periodically whether the provider still has a provisioned address. The reservation need not carry our marks, so
 * the sweep's list may lack it. The address is written off only when two checks in a row miss it, both by id and in the
 * project's list. It is also missing if its id now has another address. A token that lost its rights finds nothing by id.
 * A list without any of several reservations proves nothing.
 */
export function provisionedCheck(
  deps: LedgerDeps & { loss: LossConfirmation },
  of: { everyMs: number; monotonicMs: () => number },
): ProvisionedChecks {
  const dueAtMs = new Map<string, number>()
  const missedOnce = new Set<string>()
  return {
    async check({ source, record }, signal) {
      const id = source?.status?.reservationID
      if (!source || id === undefined || !isSource(source) || isWarm(source)) return {}
      const dueInMs = (dueAtMs.get(id) ?? -Infinity) - of.monotonicMs()
      if (dueInMs > 0) return { againInMs: dueInMs }
      const found = await findCertainly(deps, id, signal)
      const isMissed = !found || whoseIs(deps, source, found).isLost
      const isLost = isMissed && missedOnce.has(id)
      if (!isMissed || isLost) missedOnce.delete(id)
      else missedOnce.add(id)
      if (isLost && (await isLossCertain(deps, signal))) await writeOffProvisioned(deps, { source, record }, signal)
      if (!isMissed) await deps.loss.end(signal)
      const againInMs = !isMissed || isLost ? of.everyMs : Math.min(of.everyMs, secondCheckMs)
      dueAtMs.set(id, of.monotonicMs() + againInMs)
      return { againInMs }
    },
    forget() {
      dueAtMs.clear()
      missedOnce.clear()
    },
  }
}

/**
 * Whether a missing address certainly no longer exists. Either it is the only one, or the list has another one of this
 * cluster, or a person confirmed the loss.
 */
async function isLossCertain(
  { cloud, records, scheme, loss }: LedgerDeps & { loss: LossConfirmation },
  signal: AbortSignal,
): Promise<boolean> {
  const holders = (await records.list({ signal })).filter(
    ({ status = {} }) => status.address && !status.deletionRequestedAt,
  )
  const held = [...new Set(holders.flatMap((record) => reservationIdOf(record) ?? []))]
  const listed = await cloud.reservations({}, signal)
  if (isLossLikely({ listed, held, cluster: scheme.cluster, missing: held.length })) return true
  if (await loss.isGiven(signal)) return true
  await loss.warn(signal)
  return false
}
