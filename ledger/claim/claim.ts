import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlreadyExists, isConflict } from '../../kube/errors.ts'
import { currentRequestId } from '../../lib/request-id.ts'
import type { TimeLimit } from '../../lib/time-limit.ts'
import { type UnderWay, underWay } from '../../lib/under-way.ts'
import { untilAborted } from '../../lib/until-aborted.ts'
import { findObstacle } from '../available/claim-source.ts'
import { type ElasticIP, heldAddress } from '../record/elastic-ip.ts'
import { newRecord } from '../record/records.ts'
import { isClaimedBy, isSource } from '../record/source.ts'
import { type Claim, type ClaimResult, busy, recordSpecOf } from './claim-spec.ts'
import { type ClaimDeps, type Task, obtainAddress } from './obtain-address.ts'
import { previewClaim } from './preview.ts'
import { answerFromRecord, takeOverRecord } from './stored-record.ts'

export type Claims = UnderWay & {
  /**
   * The address of a Service: the one that its record holds, an available one, or a new one. Of all
   * replicas one can create the record. Throws KubeError when the API server does not answer; then nothing was bought without a record. At
   * the abort a claim that waits is busy, and any other throws the signal's reason; what is under way goes on.
   */
  claim(claim: Claim, signal: AbortSignal): Promise<ClaimResult>
  /** What a claim of a Service without a record would come to. Writes nothing. */
  preview: (claim: Claim, signal: AbortSignal) => ReturnType<typeof previewClaim>
}

const pollMs = 100

/** The claims of one process; simultaneous claims of one Service share one request to the cloud. */
export function claims(ledger: ClaimDeps): Claims {
  const deps: ProcessDeps = { ...ledger, running: new Map() }
  const { track, idle } = underWay()
  return {
    track,
    idle,
    async claim(claim, signal) {
      const deadline = claim.wait ? once(signal, 'abort').then(() => busy) : undefined
      do {
        const attempt = track(busyAtConflict(tryClaim(deps, claim, signal)))
        const result = await (deadline ? Promise.race([attempt, deadline]) : untilAborted(attempt, signal))
        if (result.kind !== 'busy') return result
        if (deadline) await Promise.race([sleep(pollMs), deadline])
      } while (claim.wait && !signal.aborted)
      return busy
    },
    preview: (claim, signal) => previewClaim(deps, claim, signal),
  }
}

async function busyAtConflict(attempt: Promise<ClaimResult>): Promise<ClaimResult> {
  try {
    return await attempt
  } catch (error) {
    if (isConflict(error)) return busy
    throw error
  }
}

/** With the claims of this process that may be at the cloud, by the name of their record. */
type ProcessDeps = ClaimDeps & { running: Map<string, Promise<ClaimResult>> }

/** The way of a claim, steps 1 to 7: get the record, which allows this process to act for the Service. */
async function tryClaim(deps: ProcessDeps, claim: Claim, signal: AbortSignal): Promise<ClaimResult> {
  // 1. Read the adoption mark and start the clock. Both come before the record names us as the sender of a request, for
  //    two reasons. What was adopted later says nothing about the time until now. And this process may be frozen after
  //    the record is written. When it runs again, other processes have taken over: its time must be over by then.
  const [halted, isFresh] = await Promise.all([deps.haltReason(signal), !claim.isShown && deps.isAdopted(signal)])
  if (halted !== undefined) return answerWhileHalted(deps, { claim, reason: halted }, signal)
  const timeLimit = deps.timeLimit()
  // 2. Choose the available address to begin with, so that the new record names it from the start.
  const { source, obstacle } = await chooseSource(deps, { ...claim, isFresh }, signal)
  if (obstacle?.kind === 'busy') return obstacle
  // 3. Create the record. The API server lets one process succeed: that one goes on to the address.
  const created = obstacle ? undefined : await createRecord(deps, { claim, source }, signal)
  if (created) return start(deps, { record: created, isFresh, source }, timeLimit)
  // 4. Else read the record that exists. If it disappeared in between, the next attempt creates it.
  const stored = await deps.records.get(claim.key, { signal })
  if (!stored) return obstacle ?? busy
  // 5. Share the request of another claim in this process: it will have the result first.
  const shared = deps.running.get(stored.metadata.name)
  if (shared) return shared
  // 6. Return what the record says. Write nothing for a claim that would only be refused again. But go on where the
  //    record had claimed the address before the process that served it died: then only this claim uses the address.
  const result = await answerFromRecord(deps, { record: stored, claim }, signal)
  if (result) return result
  if (obstacle && !(source?.status?.address !== undefined && isClaimedBy(source, stored))) return obstacle
  // 7. Take over an unanswered record; a process that tries at the same time meets a conflict. An earlier request may
  //    have bought something, so the record is not fresh.
  return start(deps, { record: await takeOverRecord(deps, stored, claim), isFresh: false }, timeLimit)
}

/** While another cluster uses our id a Service has the address that its record holds, and gets no other. */
async function answerWhileHalted(
  deps: ClaimDeps,
  { claim, reason }: { claim: Claim; reason: string },
  signal: AbortSignal,
): Promise<ClaimResult> {
  const record = await deps.records.get(claim.key, { signal })
  const address = record && heldAddress(record)
  return record && address !== undefined ? { kind: 'held', record, address } : { kind: 'pending', reason }
}

/** The available address of a new record, and what prevents the claim if that address is named and cannot be had. */
async function chooseSource(
  deps: ClaimDeps,
  { key, elasticIP, location, isFresh }: Claim & { isFresh: boolean },
  signal: AbortSignal,
): Promise<{ source: ElasticIP | undefined; obstacle?: ClaimResult }> {
  if (elasticIP === undefined) return { source: isFresh ? deps.warmCandidates.pick(location) : undefined }
  const source = await deps.records.get(elasticIP)
  // It was created a moment ago, perhaps together with the Service: a controller is about to provision it.
  const isNew = source && isSource(source) && source.status === undefined && !source.metadata.deletionTimestamp
  if (isNew) return { source, obstacle: busy }
  const reason = await findObstacle(deps, source, { name: elasticIP, key, signal })
  return reason === undefined ? { source } : { source, obstacle: { kind: 'refused', reason } }
}

/** Creates the record of a claim; undefined when the Service has a record already. */
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

function start(deps: ProcessDeps, task: Task, timeLimit: TimeLimit): Promise<ClaimResult> {
  const { name } = task.record.metadata
  const result = obtainAddress(deps, task, timeLimit).finally(() => deps.running.delete(name))
  deps.running.set(name, result)
  return result
}
