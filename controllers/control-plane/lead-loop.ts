import type { Clock } from '../../kube/clock.ts'
import type { Log } from '../../kube/log.ts'
import type { MoveRules } from '../moves/move-plan.ts'
import { problemNews } from '../moves/problem-news.ts'
import type { Sight } from './cloud-looks.ts'
import type { GuardedNode } from './control-plane-nodes.ts'
import type { KnownAddress } from './known-address.ts'
import type { WakeUp } from './wake-up.ts'

export type Guardian = {
  /**
   * Guards the address until the signal aborts. It returns earlier to let another replica lead: a guardian on the
   * holder itself would fail together with it. A guardian that cannot read from the provider moves nothing.
   */
  lead: (signal: AbortSignal, leaseLeftMs: () => number) => Promise<void>
  /** How long this replica leaves a free lease to others. */
  hesitationMs: () => number
  /** The node with the address; undefined if there is no single one. */
  holder: () => GuardedNode | undefined
  /** The problem that an operator should know; undefined if all is well. */
  problem: () => string | undefined
}

/** The options that all guardians have. */
export type LoopOptions = {
  known: KnownAddress
  /** The control-plane nodes and the history of their probes. */
  nodes: () => GuardedNode[]
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
}

/** The part that distinguishes a guardian from others. */
type Work = Pick<Guardian, 'holder'> & {
  /** Looks, decides and acts once. Returns whether there is more to do immediately. */
  turn: (signal: AbortSignal, writeMs: () => number) => Promise<boolean>
  /** Forgets what another guardian may have changed meanwhile. */
  forget: () => void
  reported: ReturnType<typeof reportedProblem>
  sight: Sight
}

/** How long a guardian leaves a free lease to others, which look for one twice a second. */
const hesitationMs = 1_500
/** A write must end before the lease does, even if timers fire late. */
const leaseMarginMs = 100

/** Takes turns, until another guardian should lead. */
export function leadLoop(options: LoopOptions, { turn, forget, holder, reported, sight }: Work): Guardian {
  const { known, nodes, ownNode, rules, wakeUp, probeIntervalMs, clock, log, onTurn } = options
  const pause = yieldPause(() => clock.now())
  const isHolderHere = () => ownNode !== undefined && holder()?.name === ownNode
  const isGoodElsewhere = ({ name, probes }: GuardedNode) => name !== ownNode && probes.successes >= rules.successes
  const yieldReason = () => {
    if (!nodes().some(isGoodElsewhere) || !pause.isOver()) return undefined
    if (sight.isBlind()) return 'this guardian cannot read the provider, so another one should lead'
    if (!isHolderHere() || reported.current() !== undefined) return undefined
    return 'this node has the control-plane address, so another guardian should lead'
  }
  return {
    async lead(signal, leaseLeftMs) {
      pause.lead()
      known.forget()
      forget()
      // While the provider is down for all guardians, each has the same problem.
      if (!sight.isBlind()) reported.forget()
      while (!signal.aborted) {
        onTurn()
        if (await turn(signal, () => leaseLeftMs() - leaseMarginMs)) continue
        const reason = yieldReason()
        if (reason !== undefined) {
          pause.yielded()
          log.info({ node: ownNode }, reason)
          return
        }
        await wakeUp.wait(probeIntervalMs, signal)
      }
    },
    hesitationMs: () => ((isHolderHere() || sight.isBlind()) && nodes().length > 1 ? hesitationMs : 0),
    holder,
    problem: reported.current,
  }
}

/** The problem that was reported last; none at first. `what` has it, and `facts` identify that in the log. */
export function reportedProblem(log: Log, what: string, facts: () => object) {
  const news = problemNews()
  return {
    current: news.current,
    /** Forgets the problem, because another guardian knows better from now on. */
    forget: () => void news.isNew(undefined),
    /** Logs a problem that is new, and its end. */
    report(problem: string | undefined) {
      const before = news.current()
      if (news.isNew(problem)) log.warn({ ...facts(), problem }, what)
      else if (problem === undefined && before !== undefined) log.info(facts(), `${what} is healthy`)
    },
  }
}

const firstMs = 60_000
const longestMs = 60 * 60_000
/** A replica that leads again within this time after it yielded knows that no other took the lease. */
const untakenMs = 5_000

/**
 * Makes the pause between two attempts to let others lead. It doubles after each unused one, because there may be no
 * other.
 */
export function yieldPause(now: () => number) {
  let yieldedAtMs = -Infinity
  let pauseMs = firstMs
  return {
    /** Records that the guardian leads, perhaps again soon after it yielded. */
    lead() {
      pauseMs = now() - yieldedAtMs < untakenMs ? Math.min(2 * pauseMs, longestMs) : firstMs
    },
    isOver: () => now() - yieldedAtMs >= pauseMs,
    yielded: () => void (yieldedAtMs = now()),
  }
}
