import type { MarkScheme, Reservation } from '../../clouds/ports/cloud.ts'
import { keyOf, type Service } from '../../kube/objects.ts'
import { type ElasticIP, isReleaseRecord, reservationIdOf } from '../record/elastic-ip.ts'
import { commonMarks, isOfService, isRetained, lastingMarks, namedCluster, transferMarks } from '../record/marks.ts'
import { releaseOrphan, resumeRelease } from '../release/delete-reservation.ts'
import { adopt, type AdoptDeps, type Adoption } from './adopt.ts'
import type { AdoptionMark } from '../identity/adoption-mark.ts'
import type { Heartbeats } from '../identity/heartbeats.ts'
import type { LossConfirmation } from '../identity/project-check.ts'
import { compareAddresses, markRetained, repairMarks } from './compare-reservations.ts'
import { type Failures, failures, type OwnerDeps } from './failures.ts'
import { type PassingOrphan, planSweep, type Surplus, type SweepPlan } from './sweep-plan.ts'
import type { Want } from '../want/want.ts'
import { mostOf, writeOffMissing } from './write-off.ts'

export type SweepDeps = AdoptDeps &
  OwnerDeps & {
    mark: AdoptionMark
    heartbeats: Heartbeats
    /** Removes `spec.loadBalancerIP` from a Service, unless the Service has changed since it was listed. */
    removeAddress: (service: Service) => Promise<void>
    requestAnnotations: readonly string[]
    graceMs: number
    monotonicMs: () => number
    /** `report`: orphans are logged and stay. */
    mode: 'release' | 'report'
    /** Counts the reservations that no Service needs. */
    observe: (unneeded: Unneeded) => void
    /** Records which reservations no Service needs. */
    listOrphans: (orphans: Reservation[], signal: AbortSignal) => Promise<void>
    loss: LossConfirmation
  }

/** How many reservations no Service needs, as one sweep saw them. */
export type Unneeded = { orphan: number; surplus: number; untagged: number }

/** Returns when the next sweep is due, if earlier than usual. */
export type Sweep = (signal: AbortSignal) => Promise<number | undefined>

/**
 * Looks for reservations with this cluster's marks that no record has. Adopts those of live Services, predecessors'
 * included. Reports those whose Service has another address. Releases the others once two sweeps agree and the grace
 * period has passed. Throws if the provider cannot be read: a reservation that was not seen may still exist. Does
 * nothing while another cluster uses our id.
 */
export function sweep(deps: SweepDeps): Sweep {
  const memory = sweepMemory(deps.monotonicMs)
  return async (signal) => {
    const failed = failures('sweep')
    // The first sweep of a leader. Suspects of an earlier term may since have gone to another owner. If etcd was
    // restored, the mark and the lease of that term are back, too.
    if (deps.heartbeats.state().kind === 'unchecked') {
      memory.forget()
      await deps.mark.clear(signal)
      await deps.heartbeats.begin(signal)
    }
    const setMark = deps.mark.begin()
    const releaseRecords = deps.listRecords().filter(isReleaseRecord)
    // Read records and Services after the list, so that they include the record that ordered a listed reservation.
    const listed = await deps.cloud.reservations(commonMarks(deps.scheme), signal)
    const may = await deps.heartbeats.check(withoutDeleted(listed, releaseRecords), signal)
    if (may === 'nothing') {
      memory.forget()
      return undefined
    }
    const reservations = await resumeReleases(deps, { releaseRecords, listed, failed }, signal)
    const facts = { ...rulesOf(deps), reservations, suspects: memory.agesMs() }
    const compare = (records: ElasticIP[]) => planSweep({ ...facts, records, services: deps.listServices() })
    const plan = compare(deps.listRecords())
    await (plan.isComplete ? deps.mark.narrow(plan.unadopted, signal) : deps.mark.clear(signal))
    await keepSuspects(deps, { memory, ids: plan.suspects }, signal)
    await failed.isolate(() => deps.listOrphans(ofIds(reservations, plan.suspects), signal))
    const areAdopted = await adoptAll(deps, plan.adopt, signal)
    if (may === 'all') await endOrphans(deps, { plan, most: mostOf(reservations.length), compare, failed }, signal)
    reportKept(deps, plan, reservations)
    if (may === 'all') await failed.isolate(() => writeMarks(deps, reservations, signal))
    await compareAddresses(deps, { reservations, failed }, signal)
    for (const record of plan.alreadyTransferred) await removeTransferred(deps, record, signal)
    memory.missing = await writeOffMissing(deps, { reservations, missing: memory.missing }, signal)
    if (plan.isComplete && areAdopted) await setMark(signal, plan.unadopted)
    deps.observe({ orphan: plan.suspects.size, surplus: plan.surplus.length, untagged: plan.untagged.length })
    failed.throwAny()
    return deps.heartbeats.waitMs()
  }
}

/** Writes what records say into the marks of their reservations. */
async function writeMarks(deps: SweepDeps, reservations: Reservation[], signal: AbortSignal): Promise<void> {
  const seen = { reservations, records: deps.listRecords() }
  await markRetained(deps, seen, signal)
  const services = deps.listServices().map(({ service }) => keyOf(service))
  await repairMarks(deps, { ...seen, services }, signal)
}

/** Adopts what it can; returns whether that was everything. */
async function adoptAll(deps: SweepDeps, adoptions: Adoption[], signal: AbortSignal): Promise<boolean> {
  let areAdopted = true
  for (const one of adoptions) {
    if (await adopt(deps, one, signal)) continue
    areAdopted = false
    // A waiting record is no gap: a claim finds it, and looks for its reservation.
    if (one.record === undefined) await deps.mark.clear(signal)
  }
  return areAdopted
}

/** The rules for the comparison of a sweep, apart from what the sweep sees. */
function rulesOf({ graceMs, scheme, requestAnnotations, sweepsUntagged, mode }: SweepDeps) {
  return { graceMs, scheme, requestAnnotations, sweepsUntagged, keepsOrphans: mode === 'report' }
}

function ofIds(reservations: Reservation[], ids: ReadonlySet<string>): Reservation[] {
  return reservations.filter(({ id }) => ids.has(id))
}

/** Remembers what the last sweep missed, and how long all sweeps without a gap have suspected a reservation. */
function sweepMemory(monotonicMs: () => number) {
  let since: ReadonlyMap<string, number> = new Map()
  const missing: ReadonlySet<string> = new Set()
  return {
    missing,
    forget(): void {
      since = new Map()
      this.missing = new Set()
    },
    agesMs: (): Map<string, number> => new Map([...since].map(([id, atMs]) => [id, monotonicMs() - atMs])),
    keepOnly(ids: ReadonlySet<string>): void {
      since = new Map([...ids].map((id) => [id, since.get(id) ?? monotonicMs()]))
    },
  }
}

/**
 * Remembers suspects. If the API server cannot list the records, it forgets all suspects and throws. Without the CRD
 * the cache is empty, so every reservation looks like an orphan. None may be due as soon as the records are back.
 */
async function keepSuspects(
  { records }: SweepDeps,
  { memory, ids }: { memory: ReturnType<typeof sweepMemory>; ids: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<void> {
  memory.keepOnly(ids)
  if (ids.size === 0) return
  try {
    await records.list({ signal })
  } catch (error) {
    memory.keepOnly(new Set())
    throw error
  }
}

/**
 * Releases the orphans that are due, or passes them to Services that use them. The comparison is old by now: a record
 * or a Service may need one.
 */
async function endOrphans(
  deps: SweepDeps,
  of: { plan: SweepPlan; most: number; compare: (records: ElasticIP[]) => SweepPlan; failed: Failures },
  signal: AbortSignal,
): Promise<void> {
  const isOrphan = (id: string) => (records: ElasticIP[]) => of.compare(records).suspects.has(id)
  const end = (reservation: Reservation) =>
    of.failed.isolate(() => endOrphan(deps, { reservation, isOrphan: isOrphan(reservation.id) }, signal))
  await endUpTo(of.most, of.plan.release, end)
  for (const one of of.plan.pass)
    if (isOrphan(one.reservation.id)(deps.listRecords())) await of.failed.isolate(() => passToHeir(deps, one, signal))
}

/**
 * Releases or reports an orphan. The Services that had it forget its address first, so that none shows it afterwards.
 */
async function endOrphan(
  deps: SweepDeps,
  orphan: { reservation: Reservation; isOrphan: (records: ElasticIP[]) => boolean },
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  const { scheme } = deps
  if (deps.mode === 'report') {
    const { id, address } = orphan.reservation
    deps.log.warn({ reservation: id, address }, 'orphaned address; it is kept, because the sweep only reports')
    return
  }
  const former = formerServices(orphan.reservation, { services: deps.listServices(), scheme })
  for (const service of former) await deps.removeAddress(service)
  await releaseOrphan(deps, orphan, signal)
}

/** Writes the Service that uses an orphan into its marks, so that the next sweep adopts the orphan for it. */
async function passToHeir(
  { cloud, scheme, log }: SweepDeps,
  { reservation: { id, address, marks }, heir }: PassingOrphan,
  signal: AbortSignal,
): Promise<void> {
  const key = keyOf(heir)
  await cloud.mark({ id, marks: lastingMarks(marks) }, transferMarks(scheme, key), signal)
  log.warn({ reservation: id, address, service: key }, 'orphaned address passes to a Service that shares it')
}

function withoutDeleted(listed: Reservation[], releaseRecords: ElasticIP[]): Reservation[] {
  const deleted = new Set(releaseRecords.map(reservationIdOf))
  return listed.filter(({ id }) => !deleted.has(id))
}

/**
 * Completes deletions that were begun; returns the listed reservations that may still be ours. A copy waits: since its
 * backup, the original may have given a reservation to another Service.
 */
async function resumeReleases(
  deps: SweepDeps,
  { releaseRecords, listed, failed }: { releaseRecords: ElasticIP[]; listed: Reservation[]; failed: Failures },
  signal: AbortSignal,
): Promise<Reservation[]> {
  const byId = new Map(listed.map((one) => [one.id, one]))
  const deleted = new Set<string>()
  const isOurs = deps.heartbeats.state().kind === 'ours'
  for (const record of releaseRecords) {
    const id = reservationIdOf(record) ?? ''
    if (record.status?.deletionRequestedAt) deleted.add(id)
    if (isOurs) await failed.isolate(() => resumeRelease(deps, { record, listed: byId.get(id) }, signal))
  }
  return listed.filter(({ id, marks }) => namedCluster(deps.scheme, marks) !== 'other' && !deleted.has(id))
}

/** Its record is lost: a Service of its name gets the address again, and no other object names it. */
function reportRetained({ log }: SweepDeps, { id, address }: Reservation): void {
  log.warn(
    { reservation: id, address },
    'retained address without an ElasticIP; it is kept: adopt it, or delete it at the provider',
  )
}

function reportUntagged({ log }: SweepDeps, { id, address }: Reservation): void {
  const text =
    "reservation of no cluster, which no Service here shows; it is kept: --sweep-untagged treats it as this cluster's"
  log.warn({ reservation: id, address }, text)
}

function reportKept(deps: SweepDeps, { surplus, untagged, suspects }: SweepPlan, reservations: Reservation[]): void {
  for (const one of ofIds(reservations, suspects)) if (isRetained(one.marks)) reportRetained(deps, one)
  for (const one of surplus) reportSurplus(deps, one)
  for (const one of untagged) reportUntagged(deps, one)
}

/** A person decides about it: a predecessor or a person may have reserved it. */
function reportSurplus({ cloud, log, warn }: SweepDeps, { service, reservation, holder }: Surplus): void {
  const { id, address = 'not granted yet' } = reservation
  const held = holder?.status?.address ?? service.spec.loadBalancerIP
  const instead = held === undefined ? 'eip-admission gives the Service no address' : `the Service has ${held}`
  log.warn({ service: keyOf(service), reservation: id, address }, 'surplus reservation; it is kept')
  warn(
    service,
    'SurplusReservation',
    `Reservation ${id} (${address}) carries the marks of this Service too, but ${instead}. It is kept and paid for; ` +
      `if nothing uses it, delete it at ${cloud.name}`,
  )
}

/** The provider says which Service has it. Without the warm record, it is adopted for that Service, or released. */
async function removeTransferred(deps: SweepDeps, record: ElasticIP, signal: AbortSignal): Promise<void> {
  const { address } = record.status ?? {}
  deps.log.warn(
    { record: record.metadata.name, address },
    'warm address removed: the provider says that a Service has it',
  )
  await deps.records.remove(record, { signal })
}

/** Ends items in turn, up to a maximum. A reservation that stays does not count, or it would block all others. */
async function endUpTo<One>(max: number, all: readonly One[], end: (one: One) => Promise<boolean>): Promise<void> {
  let left = max
  for (const one of all) if (left > 0 && (await end(one))) left -= 1
}

/**
 * The Services that no longer want an address, but still name one that a reservation's marks reserve for them. After the
 * reservation is deleted, it would look like a user's own address if the Service became a LoadBalancer again.
 */
function formerServices(
  { address, marks }: Reservation,
  { services, scheme }: { services: { service: Service; wanted: Want }[]; scheme: MarkScheme },
): Service[] {
  if (address === undefined) return []
  return services
    .filter(({ service, wanted }) => wanted.kind === 'nothing' && service.spec.loadBalancerIP === address)
    .map(({ service }) => service)
    .filter((service) => isOfService(scheme, keyOf(service), marks))
}
