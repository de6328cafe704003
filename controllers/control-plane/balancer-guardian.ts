import type { Balancers, Balancer, Origin, OriginPool } from '../../clouds/ports/balancers.ts'
import { backoffMs } from '../../lib/repeat.ts'
import { type PortChanges, isUnchanged, portChanges } from '../balancers/port-changes.ts'
import { changePorts } from '../balancers/port-steps.ts'
import { errorText } from '../loop/reconcile-key.ts'
import { leasedBalancers, timedRead } from './control-plane-address.ts'
import { type Guardian, type LoopOptions, leadLoop, reportedProblem } from './lead-loop.ts'
import { type GuardedNode, apiServerPort } from './control-plane-nodes.ts'
import { type MoveRules, toleratedFailures } from '../moves/move-plan.ts'
import { retryAfterOf } from '../moves/refusals.ts'
import { type Sight, cloudSight, liveMs, lookRetry } from './cloud-looks.ts'
import { type BalancerNames, balancerNames } from '../balancers/balancer-names.ts'

export type BalancerGuardianOptions = LoopOptions & {
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

/** The loop that keeps only good control-plane nodes behind a managed balancer. */
export function balancerGuardian(options: BalancerGuardianOptions): Guardian {
  const { known, readIntervalMs, clock, log, id } = options
  const sight = cloudSight(() => clock.now())
  const reported = reportedProblem(log, 'control-plane load balancer', () => ({ balancer: id }))
  const looks = portLooks(options, sight)
  /** Consecutive failures of looks and changes. */
  let failures = 0
  let notBeforeMs = -Infinity
  const lookAndChange = async (signal: AbortSignal, writeMs: () => number) => {
    if (known.ageMs() >= readIntervalMs) await sight.read((ends) => known.look(ends), signal)
    const wanted = wantedChange(options, await looks.look(signal))
    reported.report(wanted ? undefined : 'no control-plane node is healthy; the origins stay as they are')
    if (!wanted || isUnchanged(wanted.changes)) return
    // Whatever the answers are, only the next look shows the result.
    looks.forget()
    await change(options, wanted, { signal, writeMs })
  }
  return leadLoop(options, {
    // A balancer reaches several nodes, so there is no single holder.
    holder: () => undefined,
    reported,
    sight,
    forget: looks.forget,
    async turn(signal, writeMs) {
      if (clock.now() < notBeforeMs) return false
      try {
        await lookAndChange(signal, writeMs)
        failures = 0
      } catch (error) {
        if (signal.aborted) return false
        failures += 1
        looks.forget()
        notBeforeMs = clock.now() + Math.max(backoffMs(failures, lookRetry), retryAfterOf(error))
        reported.report(errorText(error))
      }
      return false
    },
  })
}

/** Looks at the port of the balancer: at each interval, and before each change. */
function portLooks(options: BalancerGuardianOptions, sight: Sight) {
  const { id, clock, readIntervalMs } = options
  let last: { seen: SeenPort; atMs: number } | undefined
  const isDue = (seen: SeenPort, atMs: number) => {
    const ageMs = clock.now() - atMs
    if (ageMs >= readIntervalMs) return true
    const wanted = ageMs > liveMs ? wantedChange(options, seen) : undefined
    return wanted !== undefined && !isUnchanged(wanted.changes)
  }
  const read = (signal: AbortSignal) => timedRead((ends) => readPort(options, ends), signal)
  return {
    forget: () => void (last = undefined),
    async look(signal: AbortSignal): Promise<SeenPort> {
      if (last && !isDue(last.seen, last.atMs)) return last.seen
      const seen = await sight.read(read, signal)
      if (!seen)
        throw new Error(
          `the project has no load balancer ${id}. eip-admission creates none: create one, or correct the setting`,
        )
      last = { seen, atMs: clock.now() }
      return seen
    },
  }
}

type Wanted = { nodes: ReachableNode[]; changes: PortChanges }

/** The change that the nodes need now; undefined if the origins should stay whatever the probes show. */
function wantedChange(options: BalancerGuardianOptions, seen: SeenPort): Wanted | undefined {
  const addresses = new Set([...seen.origins.values()].flat().map(({ address }) => address))
  const all = options.nodes().map((node): BalancedNode => {
    const external = options.external(node.name)
    return { ...node, external, isOrigin: external !== undefined && addresses.has(external) }
  })
  const nodes = balancedNodes(all, options.rules)
  return nodes && { nodes, changes: controlPlaneChanges(seen, options, nodes) }
}

async function change(
  { balancers, id, log, onAttempt }: BalancerGuardianOptions,
  { nodes, changes }: Wanted,
  { signal, writeMs }: { signal: AbortSignal; writeMs: () => number },
): Promise<void> {
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
async function readPort(options: BalancerGuardianOptions, signal: AbortSignal): Promise<SeenPort | undefined> {
  const { balancers, id } = options
  const number = numberOf(options)
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
function controlPlaneChanges(seen: SeenPort, options: BalancerGuardianOptions, nodes: ReachableNode[]): PortChanges {
  const number = numberOf(options)
  return portChanges({
    ...seen,
    balancer: { ports: seen.ports },
    names: controlPlaneNames(options.id),
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
