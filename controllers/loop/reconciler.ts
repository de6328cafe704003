import type { Key } from '../../kube/objects.ts'

/** The end of a reconcile of one key: it is settled, or it is due again although nothing may have changed. */
export type Outcome = {
  againInMs?: number
  /** No change of the object ends this wait: each would be another call of the cloud. */
  isHeld?: true
  /** The names of the steps that it carried out. */
  steps?: readonly string[]
}

/** Brings one object closer to what is wanted. It gets the key of the object, never the event that happened to it. */
export type Reconciler = {
  name: string
  reconcile(key: Key, signal: AbortSignal): Promise<Outcome>
  /** The request that led to the object, for the log; by a cache. */
  requestOf?(key: Key): string | undefined
  /** Forgets what it remembers of all other keys. Each term begins with it: meanwhile others led, and no event came here. */
  keepOnly?(existing: ReadonlySet<Key>): void
}

/** Removes the entries of all keys that do not exist any more. */
export function keepKeys(memory: Map<Key, unknown>, existing: ReadonlySet<Key>): void {
  for (const key of memory.keys()) if (!existing.has(key)) memory.delete(key)
}

/** A problem that no retry solves: it is reported once and waits until the object changes. */
export class Terminal extends Error {
  override readonly name = 'Terminal'
}

/** A key that needs more steps than it can need: another program probably undoes them. */
export class Unsettled extends Error {
  override readonly name = 'Unsettled'

  constructor(what: string) {
    super(
      `${what}. Another program probably undoes these changes: find out what else writes this object. ` +
        'eip-admission retries with back-off',
    )
  }
}

/** The next step for a key; without a step, when to look again although nothing may have changed. */
export type Plan<Step> = { step?: Step | undefined } & Outcome

export type Run<Seen, Step> = {
  /** Reads everything that the plan depends on. */
  look: (signal: AbortSignal) => Promise<Seen> | Seen
  /** Pure. */
  plan: (seen: Seen) => Plan<Step>
  /** Does what the step says; an outcome ends the run. */
  carryOut: (step: Step, seen: Seen, signal: AbortSignal) => Promise<Outcome | undefined>
  /** The name of a step, where its kind does not show that the same is needed again. */
  nameOf?: (step: Step) => string
  /** The end of a run without a further step, where that is more than the plan says. */
  settled?: (seen: Seen, signal: AbortSignal) => Promise<Outcome>
  /** More steps than a key needs from nothing to settled. After these, two writers probably undo each other. */
  maxSteps: number
}

/** Looks, plans and carries out one step after the other until no step is left; throws Unsettled after `maxSteps`. */
export async function runSteps<Seen, Step extends { do: string }>(
  { look, plan, carryOut, settled, maxSteps, nameOf = (step) => step.do }: Run<Seen, Step>,
  signal: AbortSignal,
): Promise<Outcome> {
  const done: string[] = []
  while (done.length < maxSteps) {
    const seen = await look(signal)
    const { step, ...outcome } = plan(seen)
    if (!step) return { ...(settled ? await settled(seen, signal) : outcome), ...(done.length > 0 && { steps: done }) }
    const end = await carryOut(step, seen, signal)
    if (end) return end
    done.push(nameOf(step))
  }
  throw new Unsettled(
    `still not settled after ${maxSteps} steps, the last of which were ${done.slice(-2).join(' and ')}`,
  )
}
