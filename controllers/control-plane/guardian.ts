import { cloudLooks, cloudSight, liveMs } from './cloud-looks.ts'
import type { ControlPlaneAddress } from './control-plane-address.ts'
import type { GuardedNode } from './control-plane-nodes.ts'
import { type Guardian, type LoopOptions, leadLoop, reportedProblem } from './lead-loop.ts'
import { toleratedFailures } from '../moves/move-plan.ts'
import type { Keeper } from '../moves/keeper.ts'
import type { TriedMove } from '../moves/mover.ts'
import { noProbes, type ProbeHistory } from '../moves/probe-history.ts'

export type GuardianOptions = LoopOptions & {
  keeper: Keeper
  /** Probes of the address itself; undefined if they would prove nothing. */
  address: () => ProbeHistory | undefined
  onMoved: (move: TriedMove) => void
}

/** The loop that keeps the control-plane address at a good control-plane node. */
export function guardian(options: GuardianOptions): Guardian {
  const { known, keeper, nodes, address, ownNode: own, readIntervalMs, clock, log, onMoved } = options
  const reported = reportedProblem(log, 'control-plane address', () => ({ address: known.current()?.address }))
  const holder = () => holderOf(known.current(), nodes())
  const sight = cloudSight(() => clock.now())
  const looks = cloudLooks({ known, readIntervalMs, sight, clock, failuresLeft: () => failuresLeft(options, holder()) })
  return leadLoop(options, {
    holder,
    reported,
    sight,
    forget: () => keeper.forget(),
    async turn(signal, writeMs) {
      const failure = await looks.look(signal)
      if (signal.aborted) return false
      const assigned = known.current()
      if (assigned === undefined || known.ageMs() === Infinity) {
        reported.report(known.problem() ?? failure ?? reported.current())
        return false
      }
      // Only the provider's state proves that a move happened.
      const moved = keeper.saw(assigned.machines)
      if (moved) onMoved(moved)
      const decision = keeper.decide({ nodes: nodes(), assigned: assigned.machines, address: address(), own })
      const doubt = known.problem() ?? failure
      const problem = decision.do === 'wait' ? decision.problem : undefined
      // While it moves, or the next probes decide, the last problem still stands.
      reported.report(problem ?? doubt ?? (decision.do === 'stay' ? undefined : reported.current()))
      if (decision.do !== 'move') return false
      const isLive = known.answerAgeMs() <= liveMs
      if (isLive) await keeper.attempt(decision, assigned, writeMs)
      known.forget()
      return true
    },
  })
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
