import type { Key } from '../../kube/objects.ts'

/** The result of a reconcile: the key is settled, or due again even if nothing changes. */
export type Outcome = {
  againInMs?: number
  /** Whether no change of the object ends this wait, because each would cost another call to the provider. */
  isHeld?: true
  /** The names of the executed steps. */
  steps?: readonly string[]
}

/** Brings one object closer to the wanted state. It gets the key of the object, never the event. */
export type Reconciler = {
  name: string
  reconcile(key: Key, signal: AbortSignal): Promise<Outcome>
  /** The request that led to the object, read from a cache, for the log. */
  requestOf?(key: Key): string | undefined
  /** Forgets all other keys. Each term begins with it: while others led, this process missed their events. */
  keepOnly?(existing: ReadonlySet<Key>): void
}

/** Removes the entries of keys that no longer exist. */
export function keepKeys(memory: Map<Key, unknown>, existing: ReadonlySet<Key>): void {
  for (const key of memory.keys()) if (!existing.has(key)) memory.delete(key)
}

/** A problem that no retry solves: it is reported once, and waits until the object changes. */
export class Terminal extends Error {
  override readonly name = 'Terminal'
}

/** A key that needed more steps than it should: another program probably undoes them. */
export class Unsettled extends Error {
  override readonly name = 'Unsettled'

  constructor(what: string) {
    super(
      `${what}. Another program probably undoes these changes: find out what else writes this object. ` +
        'eip-admission retries with back-off',
    )
  }
}

/** The next step for a key; without a step, when to look again even if nothing changes. */
export type Plan<Step> = { step?: Step | undefined } & Outcome

export type Run<Seen, Step> = {
  /** Reads everything that the plan depends on. */
  look: (signal: AbortSignal) => Promise<Seen> | Seen
  /** Pure. */
  plan: (seen: Seen) => Plan<Step>
  /** Executes a step; an outcome ends the run. */
  carryOut: (step: Step, seen: Seen, signal: AbortSignal) => Promise<Outcome | undefined>
  /** The name of a step, if its kind does not show that the same step is needed again. */
  nameOf?: (step: Step) => string
  /** The outcome of a run without a further step, if the plan does not suffice. */
  settled?: (seen: Seen, signal: AbortSignal) => Promise<Outcome>
  /** More steps than a key needs from nothing to settled. Beyond that, two writers probably undo each other. */
  maxSteps: number
}

/** Looks, plans and executes steps until none is left; throws Unsettled after `maxSteps`. */
export async function runSteps<Seen, Step extends { do: string }>(
  { look, plan, carryOut, settled, maxSteps, nameOf = (step) => step.do }: Run<Seen, Step>,
  signal: AbortSignal,
): Promise<Outcome> {
  const done: string[] = []
  while (done.length < maxSteps) {
    const seen = await look(signal)
    const { step, ...outcome } = plan(seen)
    if (!step) return withSteps(settled ? await settled(seen, signal) : outcome, done)
    const end = await carryOut(step, seen, signal)
    if (end) return withSteps(end, [...done, ...(end.steps ?? [])])
    done.push(nameOf(step))
  }
  throw new Unsettled(
    `still not settled after ${maxSteps} steps, the last of which were ${done.slice(-2).join(' and ')}`,
  )
}

function withSteps(outcome: Outcome, steps: readonly string[]): Outcome {
  return { ...outcome, ...(steps.length > 0 && { steps }) }
}
