import type { AssignedAddress } from '../../clouds/ports/assignments.ts'
import type { Clock } from '../../kube/clock.ts'

/** The provider's answer about an address, and why it is foreign. A foreign address is neither moved nor unassigned. */
export type Answer = AssignedAddress & { foreign: string | undefined }

export type CloudView = ReturnType<typeof cloudView>

/** The id in a question, and when it was asked. */
export type Asked = { id: string; askedAtMs: number }

/** The machines that now have the address, or that nothing changed, or that it is unknown. */
export type ChangeResult = { machines: string[] } | 'unchanged' | 'unclear'

/** How long the provider may still show an address without the machine that just got it. */
const settlingMs = 10_000
const never = -Infinity

type State = {
  last: Answer | undefined
  /** The id in the last question. */
  readId: string | undefined
  answeredAtMs: number
  changedAtMs: number
  /** When the last move succeeded, until another change begins. */
  placedAtMs: number
  isChanging: boolean
}

/** The provider's last answer about one address, its age, and our changes since. There is no answer at first. */
export function cloudView(clock: Pick<Clock, 'now'>) {
  const state: State = {
    last: undefined,
    readId: undefined,
    answeredAtMs: never,
    changedAtMs: never,
    placedAtMs: never,
    isChanging: false,
  }
  const isOlder = ({ askedAtMs }: Pick<Asked, 'askedAtMs'>) => state.isChanging || state.changedAtMs > askedAtMs
  /** The last answer; undefined before the first one, or if the address is deleted or foreign. */
  const assigned = (): AssignedAddress | undefined => (state.last?.foreign === undefined ? state.last : undefined)
  return {
    assigned,
    machines: (): readonly string[] => assigned()?.machines ?? [],
    /** Why the reservation is not the ledger's; undefined if it is. */
    foreign: () => state.last?.foreign,
    /** Whether the last answer was about this reservation. */
    isOf: (id: string) => state.readId === id,
    /** The same, and nothing has made it doubtful since. */
    isKnown: (id: string) => state.readId === id && state.answeredAtMs !== never,
    /** When the last answer arrived, from which its age counts; infinitely long ago if it is doubtful. */
    answeredAtMs: () => state.answeredAtMs,
    /**
     * Accepts an answer, unless one of our changes ended after the question, so that the answer may be older. Returns
     * whether it differs from the previous one. Soon after a move, an answer without a machine proves nothing.
     */
    answered: (found: Answer | undefined, asked: Asked) =>
      !isOlder(asked) && take(state, found, { id: asked.id, nowMs: clock.now() }),
    /** Notes that a list lacks the address. The list may lag, so the address is read by its id. */
    missed(asked: Pick<Asked, 'askedAtMs'>) {
      if (!isOlder(asked) && state.answeredAtMs <= asked.askedAtMs) state.readId = undefined
    },
    /** Marks the last answer as no longer reliable. */
    doubt: () => void (state.answeredAtMs = never),
    /** Whether one of our changes is in progress. */
    isChanging: () => state.isChanging,
    /** Executes a change. Unless its result is clear, only the next look shows it. */
    change: (work: () => Promise<ChangeResult>) => change(state, clock, work),
  }
}

/** The facts that a reconcile depends on: the machines of an address, or why it is foreign. */
const shown = ({ last }: State) => last && (last.foreign ?? last.machines.join())

function take(state: State, found: Answer | undefined, { id, nowMs }: { id: string; nowMs: number }): boolean {
  if (found?.machines.length === 0 && nowMs - state.placedAtMs < settlingMs) {
    state.answeredAtMs = never
    return true
  }
  const before = shown(state)
  Object.assign(state, { last: found, readId: id, answeredAtMs: nowMs })
  return shown(state) !== before
}

async function change(state: State, clock: Pick<Clock, 'now'>, work: () => Promise<ChangeResult>): Promise<void> {
  const { answeredAtMs } = state
  Object.assign(state, { answeredAtMs: never, placedAtMs: never, isChanging: true })
  try {
    const result = await work()
    if (result === 'unchanged') state.answeredAtMs = answeredAtMs
    else if (result !== 'unclear' && state.last) {
      state.last = { ...state.last, machines: result.machines }
      state.answeredAtMs = state.placedAtMs = clock.now()
    }
  } finally {
    state.isChanging = false
    state.changedAtMs = clock.now()
  }
}
