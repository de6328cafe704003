import type { Machine, Machines } from '../../clouds/machines.ts'

/** All machines at one time. */
export type Listing = { machines: Machine[]; askedAtMs: number }

/** The machines of a cloud, with one list for everybody who needs one. */
export type MachineList = Pick<Machines, 'machine'> & {
  /** All machines, asked for this long ago at most. Whoever asks while it is asked gets the same answer. */
  within(ms: number, signal: AbortSignal): Promise<Machine[]>
  /** The same, and since when it holds. */
  listing(ms: number, signal: AbortSignal): Promise<Listing>
  /** All machines as they were listed last, however long ago; undefined before the first time. */
  latest(): Machine[] | undefined
}

/** A list that failed is not asked for again at once by all the others who need it too. */
const failureMs = 2_000

/** A list that nobody has asked for yet. */
export function machineList({ machines, now }: { machines: Machines; now: () => number }): MachineList {
  let latest: Listing | undefined
  let last: { askedAtMs: number; state: 'asking' | 'good' | 'failed'; answer: Promise<Listing> } | undefined

  const read = async (askedAtMs: number, signal: AbortSignal) => ({
    askedAtMs,
    machines: await machines.machines(signal),
  })
  const ask = async (signal: AbortSignal) => {
    const askedAtMs = now()
    const question: typeof last = { askedAtMs, state: 'asking', answer: read(askedAtMs, signal) }
    last = question
    try {
      latest = await question.answer
      question.state = 'good'
      return latest
    } catch (error) {
      question.state = 'failed'
      throw error
    }
  }

  const listing: MachineList['listing'] = async (ms, signal) => {
    if (!last) return ask(signal)
    const maxMs = { asking: Infinity, good: ms, failed: Math.min(ms, failureMs) }[last.state]
    return now() - last.askedAtMs <= maxMs ? last.answer : ask(signal)
  }

  return {
    listing,
    within: async (ms, signal) => (await listing(ms, signal)).machines,
    latest: () => latest?.machines,
    machine: (id, signal) => machines.machine(id, signal),
  }
}
