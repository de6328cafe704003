import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlreadyExists, isConflict } from '../../kube/errors.ts'
import type { Key } from '../../kube/objects.ts'
import { type LedgerDeps, type ClaimResult, type Question, ask } from './ask.ts'
import type { RequestsInFlight } from '../record/requests-in-flight.ts'
import type { TimeLimit } from '../../lib/time-limit.ts'
import type { ElasticIP, ReclaimPolicy } from '../record/elastic-ip.ts'
import { newRecord } from '../record/records.ts'
import { isSource, isClaimedBy, unavailableReason } from '../record/source.ts'
import { answerStored, specOf, takeUpRecord } from './stored.ts'
import type { Want } from '../want/want.ts'

/** Which address: one in a location, or that of the ElasticIP that a person has provisioned under a name. */
export type ClaimSpec =
  | { location: string; reclaim: ReclaimPolicy; elasticIP?: undefined }
  | { elasticIP: string; location?: undefined; reclaim?: undefined }

export type Claim = ClaimSpec & {
  key: Key
  /** The Service shows an address of ours already: where the ledger does not know it, the cloud may. */
  isShown?: boolean
  /** Whether to stay, until the signal aborts, while somebody is at it; else `pending` is said at once. */
  wait: boolean
}

/** What a Service's want comes to as a claim. */
export function claimSpecOf(wanted: Extract<Want, { kind: 'reserve' | 'named' }>): ClaimSpec {
  if (wanted.kind === 'named') return { elasticIP: wanted.elasticIP }
  return { location: wanted.location, reclaim: wanted.reclaim }
}

export type ClaimDeps = LedgerDeps & {
  requestsInFlight: RequestsInFlight
  /** Whether every reservation with our marks has a record, so that no record means no reservation. */
  adopted: (signal: AbortSignal) => Promise<boolean>
  /** Begins the time that a question to the cloud may take; it is shorter than others wait for us. */
  timeLimit: () => TimeLimit
}

export type Claims = {
  /**
   * The address of a Service: the one it has, else one that is reserved now, with the record as a lock across replicas.
   * Throws KubeError when the API server does not answer; then nothing was bought that no record knows of.
   */
  claim(claim: Claim, signal: AbortSignal): Promise<ClaimResult>
  /** Resolves when no question to the cloud is under way any more. */
  idle(): Promise<void>
}

/** Somebody else is at the record: look again in a moment. */
const busy: unique symbol = Symbol('busy')

const pollMs = 100

/** Claims on the ledger; one instance a process, so that simultaneous claims of one Service share one question. */
export function claims(deps: ClaimDeps): Claims {
  const open = new Map<string, Promise<ClaimResult>>()

  function put(question: Question, timeLimit: TimeLimit): Promise<ClaimResult> {
    const { name } = question.record.metadata
    const answer = ask(deps, question, timeLimit).finally(() => open.delete(name))
    open.set(name, answer)
    return answer
  }

  async function look(claim: Claim, signal: AbortSignal): Promise<ClaimResult | typeof busy> {
    // Both from before the record says that we are at it: what was adopted since says nothing about the time until
    // now, and had we been frozen since, others are at it by now.
    const first = !claim.isShown && (await deps.adopted(signal))
    const timeLimit = deps.timeLimit()
    const chosen = await choose(deps, claim, first)
    if (chosen === busy) return busy
    const created = chosen.why === undefined ? await create(deps, { claim, ...chosen }, signal) : undefined
    if (created) return put({ record: created, first, source: chosen.source }, timeLimit)
    const stored = await deps.records.get(claim.key, { signal })
    if (!stored) return chosen.why === undefined ? busy : { kind: 'refused', why: chosen.why }
    const shared = open.get(stored.metadata.name)
    if (shared) return shared
    const known = await answerStored(deps, stored, claim)
    if (known) return known === 'busy' ? busy : known
    // Nothing is written of what would only be refused again.
    if (chosen.why !== undefined && !hasTaken(stored, chosen.source)) return { kind: 'refused', why: chosen.why }
    return put({ record: await takeUpRecord(deps, stored, claim), first: false }, timeLimit)
  }

  return {
    async claim(claim, signal) {
      const over = claim.wait ? once(signal, 'abort').then((): typeof busy => busy) : undefined
      do {
        const looking = look(claim, signal).catch(busyOnConflict)
        const answer = await (over ? Promise.race([looking, over]) : looking)
        if (answer !== busy) return answer
        if (over) await Promise.race([sleep(pollMs), over])
      } while (claim.wait && !signal.aborted)
      return { kind: 'pending', why: 'its reservation is still under way' }
    },
    async idle() {
      while (open.size > 0) await Promise.allSettled(open.values())
    },
  }
}

type Chosen = { source?: ElasticIP | undefined; why?: string | undefined }

/** What of the stock a new record would begin with; `why` there can be none. */
async function choose(
  deps: ClaimDeps,
  { key, elasticIP, location }: Claim,
  first: boolean,
): Promise<Chosen | typeof busy> {
  if (elasticIP === undefined) return { source: first ? deps.warmCandidates.pick(location) : undefined }
  const source = await deps.records.get(elasticIP)
  // Written a moment ago, with the Service perhaps: it is being looked up.
  if (source && isSource(source) && source.status === undefined && !source.metadata.deletionTimestamp) return busy
  return { source, why: unavailableReason(source, { name: elasticIP, key }) }
}

/** Whether a record took an address before whoever was at it died. */
function hasTaken(record: ElasticIP, source: ElasticIP | undefined): boolean {
  return source?.status?.address !== undefined && isClaimedBy(source, record)
}

async function create(
  deps: ClaimDeps,
  { claim, source }: { claim: Claim; source?: ElasticIP | undefined },
  signal: AbortSignal,
): Promise<ElasticIP | undefined> {
  try {
    return await deps.records.create(newRecord(claim.key, specOf(claim, source), deps.identity), { signal })
  } catch (error) {
    if (source) deps.warmCandidates.unpick(source)
    if (isAlreadyExists(error)) return undefined
    throw error
  }
}

function busyOnConflict(error: unknown): typeof busy {
  if (isConflict(error)) return busy
  throw error
}
