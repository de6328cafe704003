import type { Machine, Machines } from '../../clouds/machines.ts'

/** All machines, and when the list was requested. */
export type Listing = { machines: Machine[]; requestedAtMs: number }

/** The machines of a cloud. Several callers share one list. */
export type MachineList = Pick<Machines, 'machine'> & {
  /** All machines from a list that is this old at most. Calls during a request share its result. */
  within(ms: number, signal: AbortSignal): Promise<Machine[]>
  /** The same, with the time of the request. */
  listing(ms: number, signal: AbortSignal): Promise<Listing>
  /** All machines of the latest list, however old; undefined before the first. */
  latest(): Machine[] | undefined
}

/** After a failure all callers share the error this long, so that they do not repeat the request at once. */
const failureMs = 2_000

/** A list that reads the machines when a caller needs them. */
export function machineList({ machines, now }: { machines: Machines; now: () => number }): MachineList {
  let latest: Listing | undefined
  let last: { requestedAtMs: number; state: 'pending' | 'good' | 'failed'; result: Promise<Listing> } | undefined

  const read = async (requestedAtMs: number, signal: AbortSignal) => ({
    requestedAtMs,
    machines: await machines.machines(signal),
  })
  const request = async (signal: AbortSignal) => {
    const requestedAtMs = now()
    const current: typeof last = { requestedAtMs, state: 'pending', result: read(requestedAtMs, signal) }
    last = current
    try {
      latest = await current.result
      current.state = 'good'
      return latest
    } catch (error) {
      current.state = 'failed'
      throw error
    }
  }

  const listing: MachineList['listing'] = async (ms, signal) => {
    if (!last) return request(signal)
    const maxMs = { pending: Infinity, good: ms, failed: Math.min(ms, failureMs) }[last.state]
    return now() - last.requestedAtMs <= maxMs ? last.result : request(signal)
  }

  return {
    listing,
    within: async (ms, signal) => (await listing(ms, signal)).machines,
    latest: () => latest?.machines,
    machine: (id, signal) => machines.machine(id, signal),
  }
}
