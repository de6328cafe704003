import type { Problem } from '../../../announcers/announcer.ts'
import {
  type AssignedAddress,
  type Assignments,
  type MoveOptions,
  leastWriteMs,
} from '../../../clouds/ports/assignments.ts'
import { CloudError } from '../../../clouds/ports/cloud.ts'
import { type Arrival, assigning } from '../../../controllers/assigning/assigning.ts'
import type { Halt } from '../../../controllers/assigning/assigning-plan.ts'
import type { MovableNode } from '../../../controllers/moves/move-plan.ts'
import { silentLog } from '../../fakes/log.ts'
import { fakeClock } from '../../kube/fake-clock.ts'

const signal = new AbortController().signal
const good = { failures: 0, successes: Infinity, formerSuccesses: 0 }
const bad = { failures: Infinity, successes: 0, formerSuccesses: Infinity, reason: 'is not Ready' }

/** The fate of a write; `mayWrite` is whether the cloud's client would begin another call of it. */
type Fault = (done: () => void, mayWrite: () => boolean) => void | Promise<void>

/** A cloud with addresses, nodes `a`, `b`, `c` on machines `A`, `B`, `C`, and a Service for each address. */
export function world(addresses = ['203.0.113.1']) {
  const clock = fakeClock()
  const cloud = new Map<string, AssignedAddress>(
    addresses.map((address) => [`id-${address}`, { id: `id-${address}`, address, machines: [], tags: [], marks: {} }]),
  )
  const shown = new Map(addresses.map((address) => [address, [`default/${address}`]]))
  /** Reservations that the ledger has although the cloud has them no more. */
  const known = new Map<string, string>()
  const failed = new Set<string>()
  /** The nodes with ready endpoints, if not all have some: they come first, whatever their load is. */
  const serving = new Set<string>()
  /** The nodes without an endpoint. */
  const leaving = new Set<string>()
  const releasing = new Set<string>()
  /** The nodes without a providerID. */
  const nameless = new Set<string>()
  const reads: string[] = []
  const writes: string[] = []
  const problems: Problem[] = []
  const arrivals: Arrival[] = []
  /** The fate of the next write, or read. */
  let fault: Fault | undefined
  let isDown = false
  let isLeader = true
  /** How long the cloud takes for a read, and for each page of a list. */
  let [latencyMs, pages] = [0, 1]
  let lacksEndpoints = false
  let halt: Halt | undefined
  /** A gate that keeps the answer of a list, after the cloud has read it. */
  let held: Promise<void> | undefined
  const write = async (text: string, done: () => void, { writeMs }: MoveOptions) => {
    const mayWrite = () => writeMs() >= leastWriteMs
    if (!mayWrite()) throw new CloudError('not begun', { fault: 'unavailable', outcome: 'nothing' })
    writes.push(text)
    const failing = fault
    fault = undefined
    if (failing) await failing(done, mayWrite)
    else done()
  }
  const assignments: Assignments = {
    async assignedAddresses(_tag, ends) {
      ends.throwIfAborted()
      reads.push('all')
      if (isDown) throw new CloudError('down', { fault: 'unavailable', outcome: 'nothing' })
      const listed = [...cloud.values()]
      await held
      if (latencyMs > 0) await clock.sleep(pages * latencyMs)
      return listed
    },
    async assignedAddress(id, ends) {
      ends.throwIfAborted()
      reads.push(id)
      if (isDown) throw new CloudError('down', { fault: 'unavailable', outcome: 'nothing' })
      if (latencyMs > 0) await clock.sleep(latencyMs)
      return cloud.get(id)
    },
    async move({ id, machine }, options) {
      await write(`${id} -> ${machine}`, () => set(id, [machine]), options)
    },
    async unassign({ id }, options) {
      await write(`${id} -> nobody`, () => set(id, []), options)
    },
  }
  const set = (id: string, machines: string[]) => {
    const now = cloud.get(id)
    if (now) cloud.set(id, { ...now, machines })
  }
  type Counts = Record<'load' | 'queue', (machine: string) => number>
  const nodes = ({ load, queue }: Counts): MovableNode[] =>
    ['a', 'b', 'c']
      .map((name) => ({
        name,
        machine: nameless.has(name) ? undefined : name.toUpperCase(),
        leaving: leaving.has(name) ? 1 : 0,
        probes: failed.has(name) ? bad : good,
      }))
      .toSorted((one, other) => load(one.machine ?? '') - load(other.machine ?? ''))
      .toSorted((one, other) => queue(one.machine ?? '') - queue(other.machine ?? ''))
      .toSorted((one, other) => Number(serving.has(other.name)) - Number(serving.has(one.name)))
  const reconciler = assigning({
    assignments,
    showing: (address) => shown.get(address) ?? [],
    lacksEndpoints: () => lacksEndpoints,
    tenancyOf: (address) => ({ namespace: 'default', record: `uid of ${address}` }),
    reservationOf: (address) => known.get(address) ?? (cloud.has(`id-${address}`) ? `id-${address}` : undefined),
    halt: () => halt,
    isReleasing: (address) => releasing.has(address),
    foreignReason: (address, { marks, address: shown }) =>
      marks['cluster'] === 'other' || shown !== address ? 'it is foreign' : undefined,
    partnersOf: () => [],
    nodes: (_address, of) => nodes(of),
    report: (problem) => problems.push(problem),
    onArrival: (arrival) => arrivals.push(arrival),
    writeMs: () => (isLeader ? 2_000 : 0),
    clock,
    log: silentLog,
  })
  return {
    ...reconciler,
    clock,
    cloud,
    known,
    shown,
    failed,
    serving,
    leaving,
    releasing,
    nameless,
    reads,
    writes,
    problems,
    arrivals,
    set,
    giveAway: (address: string) => {
      const now = cloud.get(`id-${address}`)
      if (now) cloud.set(now.id, { ...now, machines: ['X'], marks: { cluster: 'other' } })
    },
    takeBack: (address: string) => {
      const now = cloud.get(`id-${address}`)
      if (now) cloud.set(now.id, { ...now, machines: [], marks: {} })
    },
    fail: (how: Fault) => void (fault = how),
    halt: (how: Halt | undefined) => void (halt = how),
    /** The next lists arrive late; returns what lets them arrive. */
    lateList: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return () => {
        held = undefined
        resolve()
      }
    },
    lackEndpoints: (how: boolean) => void (lacksEndpoints = how),
    loseLease: () => void (isLeader = false),
    leadAgain: () => void (isLeader = true),
    slowDown: (ms: number, pagesOfList: number) => void ([latencyMs, pages] = [ms, pagesOfList]),
    fall: () => void (isDown = true),
    at: (address = '203.0.113.1') => cloud.get(`id-${address}`)?.machines.join(),
    run: (address = '203.0.113.1') => reconciler.reconcile(address, signal),
  }
}
