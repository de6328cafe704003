// The course of a claim, from top to bottom: `tryClaim` has the steps to the record, obtain-address.ts those to the address.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlreadyExists, isConflict, resultUnless } from '../../kube/errors.ts'
import { type IpFamily, familyNames } from '../../lib/ip-address.ts'
import { currentRequestId } from '../../lib/request-id.ts'
import { type TimeLimit, untilAborted } from '../../lib/time-limit.ts'
import { doctorAdvice } from '../../lib/remedy.ts'
import type { Identity } from '../identity/identity.ts'
import { findObstacle } from '../available/claim-source.ts'
import {
  type ElasticIP,
  familyOf,
  heldAddress,
  isSecondKey,
  isUnwritten,
  provisionedSourceOf,
  recordName,
  serviceOfAddress,
} from '../record/elastic-ip.ts'
import { newRecord } from '../record/records.ts'
import { isClaimedBy, isSource } from '../record/source.ts'
import { busy, type Claim, type ClaimResult, type ClaimSpec, recordSpecOf } from './claim-spec.ts'
import { type ObtainDeps, type PolicyDeps, type Task, obtainAddress } from './obtain-address.ts'
import { type ClaimWaits, claimWaits } from './claim-waits.ts'
import { refuse, unrecorded } from './store-result.ts'
import { answerFromRecord, holdStored, mismatchOf, takeOverRecord } from './stored-record.ts'

export type Claims = UnderWay & {
  /** How long claims wait after failed calls to the provider. */
  waits: Pick<ClaimWaits, 'leftMs' | 'reason' | 'end'>
  /**
   * Returns the address of a Service: the one in its record, an available one, or a new one. Only one replica can create
   * the record. Throws KubeError when the API server does not answer: then no address was bought without a record. At the
   * abort a waiting claim returns busy, and any other throws the signal's reason; work that is under way continues.
   */
  claim(claim: Claim, signal: AbortSignal): Promise<ClaimResult>
  /** Prefetches what each claim reads first, for a claim that begins within a second. It never fails. */
  readAhead(signal: AbortSignal): Promise<void>
  /** The result that a claim would have for a Service without a record. Writes nothing. */
  preview: (claim: Claim, signal: AbortSignal) => ReturnType<typeof previewClaim>
}

export type ClaimDeps = ObtainDeps &
  Pick<Identity, 'haltReason' | 'isAdopted'> & {
    /** Starts the clock for one claim's time at the provider. Other processes wait longer before they take over. */
    timeLimit: () => TimeLimit
    monotonicMs: () => number
  }

type ProcessDeps = ClaimDeps & {
  /** The claims of this process that may have a call to the provider in progress, by the name of their record. */
  running: Map<string, Promise<ClaimResult>>
  /** The names of removed records for which this process bought an address. */
  unrecorded: Set<string>
}

const pollMs = 100

/** The claims of one process; simultaneous claims of one Service share one request to the provider. */
export function claims(ledger: ClaimDeps): Claims {
  const deps: ProcessDeps = { ...ledger, running: new Map(), unrecorded: new Set() }
  const { track, idle } = underWay()
  const waits = claimWaits(deps)
  return {
    track,
    idle,
    waits,
    async claim(claim, signal) {
      const standing = waits.standing(claim)
      if (standing) return standing
      const deadline = claim.wait ? once(signal, 'abort').then(() => busy) : undefined
      do {
        const attempt = track(resultUnless(isConflict, tryClaim(deps, claim, signal), busy))
        const result = await (deadline ? Promise.race([attempt, deadline]) : untilAborted(attempt, signal))
        if (result.kind !== 'busy') return waits.note(claim, result)
        if (deadline) await Promise.race([sleep(pollMs), deadline])
      } while (claim.wait && !signal.aborted)
      return waits.note(claim, busy)
    },
    async readAhead(signal) {
      await Promise.allSettled([deps.haltReason(signal), deps.isAdopted(signal)])
    },
    preview: (claim, signal) => previewClaim(deps, claim, signal),
  }
}

/** Steps 1 to 7: get a record that allows this process to act for the Service. */
async function tryClaim(deps: ProcessDeps, claim: Claim, signal: AbortSignal): Promise<ClaimResult> {
  // 1. Read the adoption mark and start the clock, both before the record names us as the sender of a request.
  //    The mark must cover the time until now, which a later adoption would not. And this process may be frozen after
  //    it wrote the record. By the time it runs again, others may have taken over, so its time must be up by then.
  const [halted, isFresh, isItsTurn] = await Promise.all([
    deps.haltReason(signal),
    !claim.isShown && !deps.unrecorded.has(recordName(claim.key)) && deps.isAdopted(signal, claim.key),
    isTurnOf(deps, claim, signal),
  ])
  if (halted !== undefined) return answerWhileHalted(deps, { claim, reason: halted }, signal)
  if (!isItsTurn) return busy
  const timeLimit = deps.timeLimit()
  // 2. Choose the available address to try first, so that the new record names it from the start.
  const { source, obstacle } = await chooseSource(deps, { ...claim, isFresh }, signal)
  if (obstacle?.kind === 'busy') return obstacle
  // 3. Create the record. The API server lets one process succeed, which continues with the address.
  const created = obstacle ? undefined : await createRecord(deps, { claim, source }, signal)
  const isNew = !claim.isShown
  if (created) return start(deps, { record: created, isFresh, isNew, source, family: claim.family }, timeLimit)
  // 4. Else read the existing record. If it disappeared in between, the next attempt creates it.
  const stored = await deps.records.get(claim.key, { signal })
  if (!stored) return obstacle ?? busy
  // 5. Share the request of another claim in this process: its result comes first. But a request for
  //    another want must end first.
  const shared = deps.running.get(stored.metadata.name)
  if (shared && familyOf(stored) === claim.family)
    return provisionedSourceOf(stored) === claim.elasticIP ? shared : busy
  // 6. Return what the record says. A claim that would only be refused again writes nothing. But continue if the
  //    record claimed the address before the process that served it died: then only this claim uses the address.
  const result = await answerFromRecord(deps, { record: stored, claim }, signal)
  if (result) return result
  if (obstacle && !(source?.status?.address !== undefined && isClaimedBy(source, stored))) return obstacle
  // 7. Take over an unanswered record; a process that tries at the same time meets a conflict. An earlier request may
  //    have bought something, so the record is not fresh.
  const record = await takeOverRecord(deps, stored, claim)
  return start(deps, { record, isFresh: false, family: claim.family }, timeLimit)
}

/** While another cluster uses our id, a Service keeps the address that its record holds, and gets no other. */
async function answerWhileHalted(
  deps: ClaimDeps,
  { claim, reason }: { claim: Claim; reason: string },
  signal: AbortSignal,
): Promise<ClaimResult> {
  const record = await deps.records.get(claim.key, { signal })
  const isHeld = record && heldAddress(record) !== undefined && mismatchOf(record, claim) === undefined
  const result = isHeld ? await holdStored(deps, { record, claim }, signal) : undefined
  return result ?? { kind: 'pending', reason }
}

/**
 * Whether the record of an address may be created. A Service's second record waits for its first. So the limits count
 * both, and no Service has only a second address.
 */
async function isTurnOf({ records }: ClaimDeps, { key }: Claim, signal: AbortSignal): Promise<boolean> {
  return !isSecondKey(key) || (await records.get(serviceOfAddress(key), { signal })) !== undefined
}

/** The available address for a new record. Or the obstacle, if the claim names an address that it cannot have. */
async function chooseSource(
  deps: ClaimDeps,
  { key, elasticIP, location, family, isFresh }: Claim & { isFresh: boolean },
  signal: AbortSignal,
): Promise<{ source: ElasticIP | undefined; obstacle?: ClaimResult }> {
  if (elasticIP === undefined) return { source: isFresh ? deps.warmCandidates.pick({ location, family }) : undefined }
  const source = await deps.records.get(elasticIP)
  // The ElasticIP is new, perhaps created together with the Service: a controller is about to provision it.
  const isNew = source && isSource(source) && isUnwritten(source) && !source.metadata.deletionTimestamp
  if (isNew) return { source, obstacle: busy }
  const reason = await findObstacle(deps, source, { name: elasticIP, key, family, signal })
  return reason === undefined ? { source } : { source, obstacle: { kind: 'refused', reason } }
}

/** Creates the record of a claim; undefined if the Service already has one. */
async function createRecord(
  deps: ClaimDeps,
  { claim, source }: { claim: Claim; source: ElasticIP | undefined },
  signal: AbortSignal,
): Promise<ElasticIP | undefined> {
  try {
    const requester = { identity: deps.identity, request: currentRequestId() }
    const record = newRecord(claim.key, recordSpecOf(claim, source), requester)
    return await deps.requestsInFlight.createRecord(record.metadata.name, () => deps.records.create(record, { signal }))
  } catch (error) {
    if (source) deps.warmCandidates.unpick(source)
    if (isAlreadyExists(error)) return undefined
    throw error
  }
}

function start(deps: ProcessDeps, task: Task & Pick<Claim, 'family'>, timeLimit: TimeLimit): Promise<ClaimResult> {
  const { name } = task.record.metadata
  // An older CRD drops the unknown field, and we would buy an address of the other family.
  if (familyOf(task.record) !== task.family)
    return refuse(deps, task, `ElasticIP ${name} ${withoutFamily(task.family)}`)
  const obtain = async () => {
    const answer = await obtainAddress(deps, task, timeLimit)
    // This includes a denial of a request that was pending.
    if (answer.kind === 'refused') deps.turnover.giveBack(task.record)
    if (answer === unrecorded) deps.unrecorded.add(name)
    else if (answer.kind === 'held') deps.unrecorded.delete(name)
    return answer
  }
  const result = obtain().finally(() => {
    // A removed record may have a successor by now.
    if (deps.running.get(name) === result) deps.running.delete(name)
  })
  deps.running.set(name, result)
  return result
}

function withoutFamily(family: IpFamily): string {
  const field = `spec.ipFamily: ${familyNames[family]}`
  return `does not keep ${field}: the ElasticIP CRD is of an older version; ${doctorAdvice}`
}

/** The address where it is known beforehand, or why there will be none. */
type ClaimPreview = { address?: string | undefined; reason?: string | undefined }

/** The result that a claim would have for a Service without a record. Writes nothing. */
async function previewClaim(
  deps: PolicyDeps,
  claim: ClaimSpec & { key: string },
  signal: AbortSignal,
): Promise<ClaimPreview> {
  const { key, elasticIP, location, family } = claim
  const overLimit = async (source: ElasticIP | undefined) => {
    const record = newRecord(key, recordSpecOf(claim, source), { identity: '' })
    return (await deps.overLimit(record, signal)) ?? deps.turnover.reason(record)
  }
  if (elasticIP === undefined) {
    const source = deps.warmCandidates.pick({ location, family })
    if (source) deps.warmCandidates.unpick(source)
    return { reason: await overLimit(source) }
  }
  const source = await deps.records.get(elasticIP, { signal })
  const reason =
    (await findObstacle(deps, source, { name: elasticIP, key, family, signal })) ?? (await overLimit(source))
  return reason === undefined ? { address: source?.status?.address } : { reason }
}

/** Work that must end before the process does, even if its callers leave. */
type UnderWay = {
  track: <T>(work: Promise<T>) => Promise<T>
  /** Resolves when nothing is under way. */
  idle: () => Promise<void>
}

function underWay(): UnderWay {
  const all = new Set<Promise<unknown>>()
  return {
    track: (work) => {
      const tracked = work.finally(() => all.delete(tracked))
      all.add(tracked)
      return tracked
    },
    idle: async () => {
      while (all.size > 0) await Promise.allSettled(all)
    },
  }
}
