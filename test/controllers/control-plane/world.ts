// A guardian on a clock that tests move, with three control planes and a cloud that unassigns before it assigns.
import { CloudError } from '../../../clouds/ports/cloud.ts'
import { leastWriteMs } from '../../../clouds/ports/assignments.ts'
import type { ControlPlaneAddress, AddressPort } from '../../../controllers/control-plane/control-plane-address.ts'
import { guardian } from '../../../controllers/control-plane/guardian.ts'
import { knownAddress } from '../../../controllers/control-plane/known-address.ts'
import { type GuardedNode, controlPlaneWords } from '../../../controllers/control-plane/control-plane-nodes.ts'
import { keeper } from '../../../controllers/moves/keeper.ts'
import type { TriedMove } from '../../../controllers/moves/mover.ts'
import { probers } from '../../../controllers/moves/probers.ts'
import { wakeUp } from '../../../controllers/control-plane/wake-up.ts'
import type { Probe } from '../../../kube/probe.ts'
import { fakeClock } from '../../kube/fake-clock.ts'
import { recordedLog } from '../../kube/recorded-log.ts'

export type ServerState = 'well' | 'slow' | 'hangs' | 'refuses' | 'broken' | 'flaps' | 'blinks' | 'alternates'
export type Write = 'unassign' | 'assign'
/** The fate of a write: it is not carried out, or it is and nobody hears of it. */
export type WriteFault = 'fails' | 'lost' | 'refused' | 'limited'

const timeoutMs = 3_000
const rules = { failures: 3, successes: 10 }
/** How long a call to the cloud takes. */
const usualCloudMs = 250

const names = ['a', 'b', 'c'] as const
export type Name = (typeof names)[number]

/** A cloud of its own with a guardian that leads; `start` ends the wait for enough good answers. */
export function guardedWorld(options: { ownNode?: Name; cooldownMs?: number } = {}) {
  const clock = fakeClock()
  const ending = new AbortController()
  const log = recordedLog()
  const servers: Record<Name, ServerState> = { a: 'well', b: 'well', c: 'well' }
  const leaving: Record<Name, number> = { a: 0, b: 0, c: 0 }
  let present: readonly Name[] = names
  /** The nodes without a providerID. */
  const nameless = new Set<Name>()
  const cloud = scriptedCloud(clock)
  const probe = scriptedProbe(servers, clock)
  const probed: string[] = []
  const awake = wakeUp(clock)
  const hosts = probers({
    probe: (endpoint, signal) => {
      probed.push(endpoint.address)
      return probe(endpoint, signal)
    },
    intervalMs: 1_000,
    goodAfter: rules.successes,
    timeoutMs,
    clock,
    onOutcome: (_name, { isWell }) => void (isWell || awake.wake()),
  })
  const outside = probers({
    probe: (_at, signal) => probe({ address: nameOf(cloud.assigned[0]), port: 0 }, signal),
    intervalMs: 1_000,
    goodAfter: rules.successes,
    timeoutMs,
    clock,
    onOutcome: () => {},
  })
  const endpoint = (name: string) => ({ address: name, port: 6443 })
  hosts.target(new Map(names.map((name) => [name, endpoint(name)])))
  const nodes = (): GuardedNode[] =>
    present.map((name) => ({
      name,
      machine: nameless.has(name) ? undefined : machineOf(name),
      endpoint: endpoint(name),
      leaving: leaving[name],
      probes: hosts.history(name),
    }))
  const known = knownAddress({
    port: cloud.port,
    now: () => clock.now(),
  })
  known.onChange(() => awake.wake())
  const moves: string[] = []
  const moved: TriedMove[] = []
  let leaseLeftMs = () => 3_000
  let turns = 0
  const guard = guardian({
    known,
    keeper: keeper({
      rules,
      words: controlPlaneWords,
      what: 'the address',
      assign: cloud.port.assign,
      cooldownMs: options.cooldownMs ?? 30_000,
      clock,
      log,
    }),
    nodes,
    address: () => undefined,
    ownNode: options.ownNode,
    rules,
    readIntervalMs: 60_000,
    probeIntervalMs: 1_000,
    wakeUp: awake,
    clock,
    log,
    onTurn() {
      turns += 1
      // A loop without its pause would never let a test end.
      if (turns > 5_000) ending.abort()
    },
    onMoved(move: TriedMove) {
      moves.push(`${move.reason} -> ${move.to.name}`)
      moved.push(move)
    },
  })
  let led: Promise<void> | undefined
  let isLeading = false
  const lead = () => {
    isLeading = true
    led = guard.lead(ending.signal, () => leaseLeftMs()).finally(() => (isLeading = false))
  }
  return {
    clock,
    log,
    cloud,
    servers,
    leaving,
    nameless,
    moves,
    /** The same moves as they are reported. */
    moved,
    guard,
    holders: () => cloud.assigned.map(nameOf),
    turns: () => turns,
    /** How often the API server of a node was probed. */
    probes: (name: Name) => probed.filter((one) => one === name).length,
    setPresent: (now: readonly Name[]) => void (present = now),
    setLeaseLeft: (left: () => number) => void (leaseLeftMs = left),
    lead,
    isLeading: () => isLeading,
    async start() {
      lead()
      await clock.pass(15_000)
      cloud.calls.length = 0
    },
    /** How long it takes until this node alone has the address. */
    async msUntilHeldBy(name: Name, atMostMs = 60_000): Promise<number> {
      for (let ms = 0; ms <= atMostMs; ms += 50) {
        if (cloud.assigned.length === 1 && cloud.assigned[0] === machineOf(name)) {
          // The look after the move.
          await clock.pass(1_000)
          return ms
        }
        await clock.pass(50)
      }
      return Infinity
    },
    async stop() {
      ending.abort()
      await clock.pass(50)
      hosts.stop()
      outside.stop()
      await clock.pass(40_000)
      await led
    },
  }
}

const machineOf = (name: string) => `machine-${name}`
const nameOf = (machine = '') => machine.replace('machine-', '')

type Clock = ReturnType<typeof fakeClock>

function scriptedProbe(servers: Record<string, ServerState>, clock: Clock): Probe {
  // The same chances in each run.
  let chance = 42
  const failed = (isDefinite: boolean, reason: string) => ({ isWell: false as const, isDefinite, reason })
  return async ({ address }, signal) => {
    chance = (chance * 1_103_515_245 + 12_345) % 2 ** 31
    switch (servers[address]) {
      case 'slow':
        await clock.sleep(2_000, signal)
        return { isWell: true }
      case 'hangs':
        await clock.sleep(timeoutMs, signal)
        return failed(false, 'no answer')
      case 'refuses':
        return failed(true, 'refused')
      case 'broken':
        return failed(true, 'it answers 500')
      case 'flaps':
        return chance > 2 ** 30 ? { isWell: true } : failed(true, 'it answers 500')
      // Down for less than a second, again and again.
      case 'blinks':
        return clock.now() % 4_000 < 900 ? failed(true, 'refused') : { isWell: true }
      case 'alternates':
        return clock.now() % 2_000 < 1_000 ? failed(true, 'it answers 500') : { isWell: true }
      case 'well':
      case undefined:
    }
    return { isWell: true }
  }
}

const limited = () => new CloudError('429', { fault: 'rate-limit', outcome: 'nothing', retryAfterMs: 60_000 })

function scriptedCloud(clock: Clock) {
  const assigned: string[] = [machineOf('a')]
  const calls: string[] = []
  const faults: Partial<Record<Write | 'read', WriteFault[]>> = {}
  let most = 1
  let isGone = false
  let listShows: ((found: ControlPlaneAddress[]) => ControlPlaneAddress[]) | undefined
  let isNamed = true
  let delayMs = usualCloudMs
  const call = async (what: string, signal: AbortSignal) => {
    calls.push(what)
    await clock.sleep(delayMs, signal)
    signal.throwIfAborted()
  }
  const read = async (signal: AbortSignal): Promise<ControlPlaneAddress[]> => {
    await call('read', signal)
    const fault = faults.read?.shift()
    if (fault === 'limited') throw limited()
    if (fault) throw new CloudError('the provider is broken', { fault: 'unavailable', outcome: 'nothing' })
    return isGone ? [] : [{ id: 'r1', address: '203.0.113.1', machines: [...assigned] }]
  }
  const write = async (what: Write, run: () => void, { signal, writeMs }: Parameters<AddressPort['assign']>[1]) => {
    if (writeMs() < leastWriteMs)
      throw new CloudError('this process may no longer move the address', { fault: 'conflict', outcome: 'nothing' })
    await call(what, signal)
    const fault = faults[what]?.shift()
    if (fault === 'refused') throw new CloudError('it is in another metro', { fault: 'invalid', outcome: 'nothing' })
    if (fault === 'limited') throw limited()
    if (fault === 'fails') throw new CloudError('500', { fault: 'unavailable', outcome: 'unknown' })
    run()
    most = Math.max(most, assigned.length)
    if (fault === 'lost') throw new CloudError('no answer', { fault: 'unavailable', outcome: 'unknown' })
  }
  const port: AddressPort = {
    name: 'tag cp',
    list: async (signal) => {
      const found = await read(signal)
      return listShows ? listShows(found) : found
    },
    async read(id, signal) {
      const [found] = await read(signal)
      return found && { ...found, id, isNamed }
    },
    async assign({ machine }, options) {
      await call('read for the move', options.signal)
      for (const other of assigned.filter((one) => one !== machine))
        await write('unassign', () => void assigned.splice(assigned.indexOf(other), 1), options)
      if (!assigned.includes(machine)) await write('assign', () => void assigned.push(machine), options)
    },
  }
  return {
    port,
    assigned,
    calls,
    faults,
    writes: () => calls.filter((one) => one === 'assign' || one === 'unassign').length,
    /** The most machines that our move ever left with the address. */
    most: () => most,
    setDelay: (ms: number) => void (delayMs = ms),
    setGone: (gone: boolean) => void (isGone = gone),
    /** A list that differs from what exists. */
    setList: (shows?: (found: ControlPlaneAddress[]) => ControlPlaneAddress[]) => void (listShows = shows),
    /** Whether the address has its tag. */
    setNamed: (named: boolean) => void (isNamed = named),
    /** As a person does in the vendor's console. */
    byHand: (...holders: string[]) => void assigned.splice(0, assigned.length, ...holders.map(machineOf)),
  }
}
