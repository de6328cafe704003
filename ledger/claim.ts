import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlreadyExists, isConflict } from '../kube/errors.ts'
import type { Key } from '../kube/objects.ts'
import { type AskParts, type Claimed, type Question, ask } from './ask.ts'
import type { Asking } from './asking.ts'
import type { Budget } from './budget.ts'
import { type ElasticIP, type ReclaimPolicy, heldAddress, isUnbound, phaseOf, reservationOf } from './elastic-ip.ts'
import { assigned, isLeaving, newRecord } from './records.ts'

export type Claim = {
  key: Key
  location: string
  reclaim: ReclaimPolicy
  /** The Service shows an address of ours already: where the ledger does not know it, the cloud may. */
  isShown?: boolean
  /** Whether to stay, until the signal aborts, while somebody is at it; else `pending` is said at once. */
  wait: boolean
}

export type ClaimParts = AskParts & {
  asking: Asking
  /** Whether every reservation with our marks has a record, so that no record means no reservation. */
  adopted: (signal: AbortSignal) => Promise<boolean>
  /** Why a record is one too many, in words for whoever asked for it. */
  overLimit: (record: ElasticIP, signal: AbortSignal) => Promise<string | undefined>
  /** Begins the time that a question to the cloud may take; it is shorter than others wait for us. */
  budget: () => Budget
}

export type Claims = {
  /**
   * The address of a Service: the one it has, else one that is reserved now, with the record as a lock across replicas.
   * Throws KubeError when the API server does not answer; then nothing was bought that no record knows of.
   */
  claim(claim: Claim, signal: AbortSignal): Promise<Claimed>
  /** Resolves when no question to the cloud is under way any more. */
  idle(): Promise<void>
}

/** Somebody else is at the record: look again in a moment. */
const busy: unique symbol = Symbol('busy')

const pollMs = 100

/** Claims on the ledger; one instance a process, so that simultaneous claims of one Service share one question. */
export function claims(parts: ClaimParts): Claims {
  const open = new Map<string, Promise<Claimed>>()

  function put(question: Question, budget: Budget): Promise<Claimed> {
    const { name } = question.record.metadata
    const answer = ask(parts, question, budget).finally(() => open.delete(name))
    open.set(name, answer)
    return answer
  }

  async function look(claim: Claim, signal: AbortSignal): Promise<Claimed | typeof busy> {
    // Both from before the record says that we are at it: what was adopted since says nothing about the time until
    // now, and had we been frozen since, others are at it by now.
    const first = !claim.isShown && (await parts.adopted(signal))
    const budget = parts.budget()
    const created = await create(parts, claim, signal)
    if (created) return (await turnAway(parts, created, signal)) ?? put({ record: created, first }, budget)
    const stored = await parts.records.get(claim.key, { signal })
    if (!stored) return busy
    const shared = open.get(stored.metadata.name)
    if (shared) return shared
    const kept = elsewhere(stored, claim) ?? (await keep(parts, stored))
    if (kept) return kept
    if (phaseOf(stored) !== 'Requested' || isLeaving(stored) || parts.asking.underWay(stored)) return busy
    return put({ record: await take(parts, stored, claim), first: false }, budget)
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

async function create(parts: ClaimParts, claim: Claim, signal: AbortSignal): Promise<ElasticIP | undefined> {
  const spec = { location: claim.location, reclaimPolicy: claim.reclaim }
  try {
    return await parts.records.create(newRecord(claim.key, spec, parts.identity), { signal })
  } catch (error) {
    if (isAlreadyExists(error)) return undefined
    throw error
  }
}

/** A limit is looked at when the record is written: of those that race for the last place each sees all who came before. */
async function turnAway(parts: ClaimParts, record: ElasticIP, signal: AbortSignal): Promise<Claimed | undefined> {
  const why = await parts.overLimit(record, signal)
  if (why === undefined) return undefined
  await parts.records.remove(record)
  return { kind: 'refused', why }
}

/** An address that waits for its Service, in another place than the Service now asks for. */
function elsewhere(record: ElasticIP, { location }: Claim): Claimed | undefined {
  const { name } = record.metadata
  const { address } = record.status ?? {}
  const place = record.spec.location
  const waits = phaseOf(record) === 'Released' || (phaseOf(record) === 'Reserved' && isUnbound(record))
  if (!waits || address === undefined || place === undefined || place === location) return undefined
  const how = `ask for ${place}, or give the address back: kubectl delete eip ${name}`
  return { kind: 'refused', why: `${address} is kept for it in ${place}, and ${location} is asked for; ${how}` }
}

/** The address of a record that has one, kept or on its way back as it may be; undefined when there is none to keep. */
async function keep(parts: ClaimParts, record: ElasticIP): Promise<Claimed | undefined> {
  const held = heldAddress(record)
  if (held !== undefined) return { kind: 'held', record, address: held }
  const phase = phaseOf(record)
  const address = record.status?.address
  const stillOurs = phase === 'Released' || (phase === 'Releasing' && !record.status?.returnedAt)
  if (!stillOurs || address === undefined || isLeaving(record)) return undefined
  const said = { reason: 'Claimed', message: 'its Service is not stored yet', now: parts.now() }
  const stored = await parts.records.writeStatus(record, {
    phase: 'Reserved',
    conditions: [assigned('Unknown', said)],
  })
  return { kind: 'held', record: stored, address }
}

/** Makes an unanswered record ours to ask about; whoever else tried at the same time meets a conflict. */
async function take(parts: ClaimParts, record: ElasticIP, claim: Claim): Promise<ElasticIP> {
  const place = reservationOf(record) === undefined ? { location: claim.location } : {}
  const current = await parts.records.writeSpec(record, { ...record.spec, ...place, reclaimPolicy: claim.reclaim })
  const asking = { by: parts.identity, since: parts.now().toISOString() }
  return parts.records.writeStatus(current, { phase: 'Requested', asking })
}

function busyOnConflict(error: unknown): typeof busy {
  if (isConflict(error)) return busy
  throw error
}
