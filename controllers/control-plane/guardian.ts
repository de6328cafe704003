import type { Clock } from '../../kube/clock.ts'
import type { Log } from '../../kube/log.ts'
import { type CloudLooks, cloudLooks, cloudSight } from './cloud-looks.ts'
import type { ControlPlaneAddress } from './control-plane-address.ts'
import type { KnownAddress } from './known-address.ts'
import { type Decision, type MoveRules, toleratedFailures } from '../moves/move-plan.ts'
import { type GuardedNode, isAnotherGood } from './control-plane-nodes.ts'
import type { Keeper } from '../moves/keeper.ts'
import type { TriedMove } from '../moves/mover.ts'
import { problemNews } from '../moves/problem-news.ts'
import { noProbes, type ProbeHistory } from '../moves/probe-history.ts'
import type { WakeUp } from './wake-up.ts'
import { hesitationMs, yieldPause } from './yield-pause.ts'

export type GuardianOptions = {
  known: KnownAddress
  keeper: Keeper
  /** The control-plane nodes and the history of their probes. */
  nodes: () => GuardedNode[]
  /** Probes of the address itself; undefined if they would prove nothing. */
  address: () => ProbeHistory | undefined
  /** The node that this process runs on, if it is known. */
  ownNode: string | undefined
  rules: MoveRules
  /** How often the provider is read while all is well. */
  readIntervalMs: number
  probeIntervalMs: number
  wakeUp: WakeUp
  clock: Clock
  log: Log
  /** Called at each turn of the loop. */
  onTurn: () => void
  onMoved: (move: TriedMove) => void
}

export type Guardian = {
  /**
   * Guards the address until the signal aborts. It returns earlier to let another replica lead: a guardian on the
   * holder itself would fail together with it. A guardian that cannot read from the provider moves nothing.
   */
  lead: (signal: AbortSignal, leaseLeftMs: () => number) => Promise<void>
  /** How long this replica leaves a free lease to others. */
  hesitationMs: () => number
  holder: () => GuardedNode | undefined
  /** The problem that an operator should know; undefined if all is well. */
  problem: () => string | undefined
}

/** The maximum age of a look at the provider on which a move relies. */
const liveMs = 2_000
/** A write must end before the lease does, even if timers fire late. */
const leaseMarginMs = 100

/** The state of a turn of the loop, besides the options. */
type Turn = GuardianOptions & {
  looks: CloudLooks
  reported: ReportedProblem
  decide: (assigned: ControlPlaneAddress) => Decision
}

/** The loop that keeps the control-plane address at a good control-plane node. */
export function guardian(options: GuardianOptions): Guardian {
  const { known, clock, log, ownNode, rules, wakeUp, probeIntervalMs, readIntervalMs } = options
  const reported = reportedProblem(log, () => known.current()?.address)
  const holder = () => holderOf(known.current(), options.nodes())
  const sight = cloudSight(() => clock.now())
  const looks = cloudLooks({ known, readIntervalMs, sight, clock, failuresLeft: () => failuresLeft(options, holder()) })
  const parts: Turn = { ...options, looks, reported, decide: (assigned) => decide(options, assigned) }
  const pause = yieldPause(() => clock.now())

  const isHolderHere = () => ownNode !== undefined && holder()?.name === ownNode
  const canOthersLead = () => isAnotherGood(options.nodes(), ownNode, rules)
  const yieldReason = () => {
    if (!canOthersLead() || !pause.isOver()) return undefined
    if (sight.isBlind()) return 'this guardian cannot read the provider, so another one should lead'
    if (!isHolderHere() || reported.current() !== undefined) return undefined
    return 'this node has the control-plane address, so another guardian should lead'
  }

  return {
    async lead(signal, leaseLeftMs) {
      const writeMs = () => leaseLeftMs() - leaseMarginMs
      pause.lead()
      // Another guardian may have led, and moved it, meanwhile.
      known.forget()
      options.keeper.forget()
      // While the provider is down for all guardians, each has the same problem.
      if (!sight.isBlind()) reported.forget()
      while (!signal.aborted) {
        options.onTurn()
        if (await takeTurn(parts, signal, writeMs)) continue
        const reason = yieldReason()
        if (reason !== undefined) {
          pause.yielded()
          log.info({ node: ownNode }, reason)
          return
        }
        await wakeUp.wait(probeIntervalMs, signal)
      }
    },
    hesitationMs: () => ((isHolderHere() || sight.isBlind()) && options.nodes().length > 1 ? hesitationMs : 0),
    holder,
    problem: reported.current,
  }
}

/** Looks, decides and acts once. Returns whether there is more to do immediately. */
async function takeTurn(parts: Turn, signal: AbortSignal, writeMs: () => number): Promise<boolean> {
  const { known, looks, reported, keeper } = parts
  const failure = await looks.look(signal)
  if (signal.aborted) return false
  const assigned = known.current()
  if (assigned === undefined || known.ageMs() === Infinity) {
    reported.report(known.problem() ?? failure ?? reported.current())
    return false
  }
  // Only the provider's state proves that a move happened.
  const moved = keeper.saw(assigned.machines)
  if (moved) parts.onMoved(moved)
  const decision = parts.decide(assigned)
  const doubt = known.problem() ?? failure
  const problem = decision.do === 'wait' ? decision.problem : undefined
  // While it moves, or the next probes decide, the last problem still stands.
  reported.report(problem ?? doubt ?? (decision.do === 'stay' ? undefined : reported.current()))
  if (decision.do !== 'move') return false
  const isLive = known.answerAgeMs() <= liveMs
  if (isLive) await keeper.attempt(decision, assigned, writeMs)
  known.forget()
  return true
}

function decide({ keeper, nodes, address, ownNode }: GuardianOptions, { machines }: ControlPlaneAddress): Decision {
  return keeper.decide({ nodes: nodes(), assigned: machines, address: address(), own: ownNode })
}

function holderOf(assigned: ControlPlaneAddress | undefined, nodes: GuardedNode[]): GuardedNode | undefined {
  const [machine, ...others] = assigned?.machines ?? []
  // A node without a providerID has no machine either.
  if (machine === undefined || others.length > 0) return undefined
  return nodes.find((node) => node.machine === machine)
}

/** How many failures are left before the address leaves its holder. */
function failuresLeft({ address, rules }: GuardianOptions, holder: GuardedNode | undefined): number {
  const failing = [holder?.probes, address()].filter((probes) => probes !== undefined && probes.failures > 0)
  return Math.min(...failing.map((probes = noProbes) => toleratedFailures(probes, rules) - probes.failures))
}

/** The problem that was reported last. */
type ReportedProblem = {
  current: () => string | undefined
  /** Logs a problem that is new, and its end. */
  report(problem: string | undefined): void
  /** Forgets the problem, because another guardian knows better from now on. */
  forget(): void
}

/** Starts without a problem. `address` is the control-plane address, if it is known. */
function reportedProblem(log: Log, address: () => string | undefined): ReportedProblem {
  const news = problemNews()
  return {
    current: news.current,
    forget: () => void news.isNew(undefined),
    report(problem) {
      const before = news.current()
      if (news.isNew(problem)) log.warn({ address: address(), problem }, 'control-plane address')
      else if (problem === undefined && before !== undefined)
        log.info({ address: address() }, 'control-plane address is healthy')
    },
  }
}
