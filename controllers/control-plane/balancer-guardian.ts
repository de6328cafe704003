import type { Balancers, Balancer, Origin, OriginPool } from '../../clouds/ports/balancers.ts'
import { backoffMs } from '../../lib/repeat.ts'
import { withTimeLimit } from '../../lib/time-limit.ts'
import { type PortChanges, isUnchanged, portChanges } from '../balancers/port-changes.ts'
import { changePorts } from '../balancers/port-steps.ts'
import { errorText } from '../loop/reconcile-key.ts'
import { leasedBalancers } from './control-plane-address.ts'
import type { Guardian, GuardianOptions } from './guardian.ts'
import { type GuardedNode, apiServerPort, isAnotherGood } from './control-plane-nodes.ts'
import { type MoveRules, toleratedFailures } from '../moves/move-plan.ts'
import { type Sight, cloudSight } from './cloud-looks.ts'
import { hesitationMs, yieldPause } from './yield-pause.ts'
import { type BalancerNames, balancerNames } from '../balancers/balancer-names.ts'

export type BalancerGuardianOptions = Omit<GuardianOptions, 'keeper' | 'address' | 'onMoved'> & {
  balancers: Balancers
  /** The balancer that the operator named. */
  id: string
  /** The port at the balancer; undefined if it is the API servers' port. */
  port: number | undefined
  /** The public address of a node; undefined if it has none of its own. */
  external: (node: string) => string | undefined
  /** Called after each attempt to change the origins, with the error if it failed. */
  onAttempt: (error: string | undefined) => void
}

/** The maximum age of a look at the provider on which a change relies. */
const liveMs = 2_000
const readTimeoutMs = 8_000
const leaseMarginMs = 100
const retry = { firstMs: 500, maxMs: 10_000 }

type Look = { seen: SeenPort; atMs: number }

type GuardianState = {
  last: Look | undefined
  sight: Sight
  /** Consecutive failures of looks and changes. */
  failures: number
  notBeforeMs: number
  problem: string | undefined
}

type Turn = { options: BalancerGuardianOptions; state: GuardianState; signal: AbortSignal; writeMs: () => number }

/** The loop that keeps only good control-plane nodes behind a managed balancer. */
export function balancerGuardian(options: BalancerGuardianOptions): Guardian {
  const { nodes, ownNode, rules, clock, log } = options
  const sight = cloudSight(() => clock.now())
  const state: GuardianState = { last: undefined, sight, failures: 0, notBeforeMs: -Infinity, problem: undefined }
  const pause = yieldPause(() => clock.now())
  const shouldYield = () => sight.isBlind() && isAnotherGood(nodes(), ownNode, rules) && pause.isOver()
  return {
    async lead(signal, leaseLeftMs) {
      const writeMs = () => leaseLeftMs() - leaseMarginMs
      pause.lead()
      // Another replica may have changed it meanwhile.
      state.last = undefined
      options.known.forget()
      while (!signal.aborted) {
        options.onTurn()
        if (clock.now() >= state.notBeforeMs) await turn({ options, state, signal, writeMs })
        if (shouldYield()) {
          pause.yielded()
          log.info({ node: ownNode }, 'this guardian cannot read the provider, so another one should lead')
          return
        }
        await options.wakeUp.wait(options.probeIntervalMs, signal)
      }
    },
    hesitationMs: () => (sight.isBlind() && nodes().length > 1 ? hesitationMs : 0),
    // A balancer reaches several nodes, so there is no single holder.
    holder: () => undefined,
    problem: () => state.problem,
  }
}

async function turn(at: Turn): Promise<void> {
  const { options, state, signal } = at
  try {
    await lookAndChange(at)
    state.failures = 0
  } catch (error) {
    if (signal.aborted) return
    state.failures += 1
    state.last = undefined
    state.notBeforeMs = options.clock.now() + backoffMs(state.failures, retry)
    reportProblem(at, errorText(error))
  }
}

async function lookAndChange(at: Turn): Promise<void> {
  const { options, state, signal } = at
  const { known, readIntervalMs } = options
  if (known.ageMs() >= readIntervalMs) await state.sight.read((ends) => known.look(ends), signal)
  if (isDue(at)) await look(at)
  if (!state.last) return
  const wanted = wantedChange(options, state.last)
  reportProblem(at, wanted ? undefined : 'no control-plane node is healthy; the origins stay as they are')
  if (wanted && !isUnchanged(wanted.changes)) await change(at, wanted)
}

/** Whether the provider must be read: the last look is too old, or its findings require a change now. */
function isDue({ options, state: { last } }: Turn): boolean {
  if (!last) return true
  const ageMs = options.clock.now() - last.atMs
  if (ageMs >= options.readIntervalMs) return true
  const wanted = ageMs > liveMs ? wantedChange(options, last) : undefined
  return wanted !== undefined && !isUnchanged(wanted.changes)
}

async function look(at: Turn): Promise<void> {
  const { options, state, signal } = at
  const { balancers, id, clock } = options
  const timeoutError = () => new Error(`no answer within ${readTimeoutMs} ms`)
  const read = (ends: AbortSignal) => readPort(balancers, { id, number: numberOf(options) }, ends)
  const readInTime = () => withTimeLimit({ ms: readTimeoutMs, timeoutError, signal }, read)
  const seen = await state.sight.read(readInTime, signal)
  state.last = seen && { seen, atMs: clock.now() }
  if (!seen)
    throw new Error(
      `the project has no load balancer ${id}. eip-admission creates none: create one, or correct the setting`,
    )
}

type Wanted = { nodes: ReachableNode[]; changes: PortChanges }

/** The change that the nodes need now; undefined if the origins should stay whatever the probes show. */
function wantedChange(options: BalancerGuardianOptions, { seen }: Look): Wanted | undefined {
  const addresses = new Set([...seen.origins.values()].flat().map(({ address }) => address))
  const all = options.nodes().map((node): BalancedNode => {
    const external = options.external(node.name)
    return { ...node, external, isOrigin: external !== undefined && addresses.has(external) }
  })
  const nodes = balancedNodes(all, options.rules)
  return nodes && { nodes, changes: controlPlaneChanges(seen, { id: options.id, number: numberOf(options), nodes }) }
}

/** Changes the origins. Whatever the answers are, only the next look shows the result. */
async function change({ options, state, signal, writeMs }: Turn, { nodes, changes }: Wanted): Promise<void> {
  const { balancers, id, log, onAttempt } = options
  state.last = undefined
  log.info({ balancer: id, origins: nodes.map(({ name }) => name) }, 'changing the origins of the control plane')
  try {
    const target = { balancer: id, changes, names: controlPlaneNames(id) }
    await changePorts(leasedBalancers(balancers, writeMs), target, signal)
    onAttempt(undefined)
  } catch (error) {
    onAttempt(errorText(error))
    throw error
  }
}

function numberOf({ port, nodes }: BalancerGuardianOptions): number {
  return port ?? apiServerPort(nodes())
}

function reportProblem({ options: { id, log }, state }: Turn, problem: string | undefined): void {
  if (problem !== undefined && problem !== state.problem)
    log.warn({ balancer: id, problem }, 'control-plane load balancer')
  state.problem = problem
}

/** The port of a balancer through which users reach the API servers, as the provider last showed it. */
type SeenPort = {
  ports: Balancer['ports']
  pools: OriginPool[]
  origins: ReadonlyMap<string, Origin[]>
}

/** The names of objects that we create at the balancer: the same for every replica, and unique to this balancer. */
function controlPlaneNames(id: string): BalancerNames {
  return balancerNames({ key: 'kube-system/control-plane', cluster: id, former: '' })
}

/** Reads one port of a balancer with its origins; undefined if there is no such balancer. */
async function readPort(
  balancers: Balancers,
  { id, number }: { id: string; number: number },
  signal: AbortSignal,
): Promise<SeenPort | undefined> {
  const balancer = await balancers.get(id, signal)
  if (!balancer) return undefined
  // Its other ports are the operator's.
  const ports = balancer.ports.filter((port) => port.number === number)
  const names = controlPlaneNames(id)
  const spare = ports.length > 0 ? [] : await balancers.pools(signal)
  const pools = spare.filter(({ name }) => names.portOfPool(name) === number)
  const ids = [...ports.flatMap((port) => port.pools), ...pools.map((pool) => pool.id)]
  const read = await Promise.all(ids.map(async (pool) => [pool, await balancers.origins(pool, signal)] as const))
  return { ports, pools, origins: new Map(read.flatMap(([pool, origins]) => (origins ? [[pool, origins]] : []))) }
}

/** The changes until a balancer sends to these nodes, at the port of their API servers. Pure. */
function controlPlaneChanges(
  seen: SeenPort,
  { id, number, nodes }: { id: string; number: number; nodes: ReachableNode[] },
): PortChanges {
  return portChanges({
    ...seen,
    balancer: { ports: seen.ports },
    names: controlPlaneNames(id),
    ports: [{ port: number, nodePort: nodes[0]?.endpoint?.port ?? number }],
    nodes: nodes.map(({ name, external }) => ({ node: name, address: external })),
  })
}

// Which control-plane nodes a balancer sends to. "Good" is an origin that has not failed too often in a row, or another
// node with enough good answers in a row. If none answers, the origins stay, because an empty pool serves no one.

/** A control-plane node as a balancer sees it. */
export type BalancedNode = GuardedNode & {
  /** Where the balancer reaches it; undefined if it has no public address of its own. */
  external: string | undefined
  /** Whether the balancer sends to it now. */
  isOrigin: boolean
}

type ReachableNode = BalancedNode & { external: string }

/** The nodes that the balancer should send to; undefined if it should keep those that it has. Pure. */
export function balancedNodes(nodes: readonly BalancedNode[], rules: MoveRules): ReachableNode[] | undefined {
  const reachable = nodes.filter((node): node is ReachableNode => node.external !== undefined)
  const good = reachable.filter((node) => isGood(node, rules))
  const staying = good.filter(({ leaving }) => leaving === 0)
  const answering = reachable.filter(({ probes }) => probes.successes > 0)
  return [staying, good, answering].find((some) => some.length > 0)
}

/** Before the first probes an origin stays, because a new process knows nothing against it. */
function isGood({ probes, isOrigin }: BalancedNode, rules: MoveRules): boolean {
  return isOrigin ? probes.failures < toleratedFailures(probes, rules) : probes.successes >= rules.successes
}
