import { sights } from '../../lib/sights.ts'
import { type Decision, type MoveFacts, planMove } from './move-plan.ts'
import { type MoverOptions, type TriedMove, mover } from './mover.ts'

export type Keeper = ReturnType<typeof keeper>

/** The facts of a decision that the keeper does not remember. */
type KeeperFacts = Pick<MoveFacts, 'nodes' | 'assigned' | 'address' | 'own'>

/** Keeps an address on a suitable machine, and remembers which machines had it: none at first. */
export function keeper({ rules, words, ...options }: Pick<MoveFacts, 'rules' | 'words'> & MoverOptions) {
  const moves = mover(options)
  let former: string | undefined
  const strangers = sights(() => options.clock.now())
  return {
    ...moves,
    /** Forgets what another guardian may have changed meanwhile. */
    forget() {
      moves.forget()
      strangers.forget()
    },
    /** Notes that the provider shows the address at these machines. Returns the move that this proves, once. */
    saw([machine, ...others]: readonly string[]): TriedMove | undefined {
      if (machine === undefined || others.length > 0) return undefined
      former = machine
      const last = moves.tried()
      if (last?.to.machine !== machine) return undefined
      moves.settle()
      return last
    },
    /** Decides what to do about the address now. */
    decide(facts: KeeperFacts): Decision {
      const { nodes, assigned } = facts
      const isStranger = assigned.length === 1 && !nodes.some(({ machine }) => machine === assigned[0])
      const strangerForMs = strangers.forMs('stranger', isStranger ? assigned[0] : undefined)
      return planMove({ ...facts, rules, words, former, strangerForMs, refused: moves.refused(), pause: moves.pause })
    },
  }
}
