import type { Clock } from '../../kube/clock.ts'
import { sights } from '../../lib/sights.ts'
import { type Decision, type MoveFacts, planMove } from './move-plan.ts'
import type { Mover, TriedMove } from './mover.ts'

/** The facts of a decision that the keeper does not remember. */
export type KeeperFacts = Pick<MoveFacts, 'nodes' | 'assigned' | 'address' | 'own'>

/** Keeps an address on a suitable machine, and remembers which machines had it. */
export type Keeper = Pick<Mover, 'attempt' | 'forget' | 'tried'> & {
  /** Notes that the provider shows the address at these machines. Returns the move that this proves, once. */
  saw(machines: readonly string[]): TriedMove | undefined
  /** Decides what to do about the address now. */
  decide(facts: KeeperFacts): Decision
}

export type KeeperOptions = Pick<MoveFacts, 'rules' | 'words'> & { mover: Mover; clock: Pick<Clock, 'now'> }

/** Makes the keeper of an address of which nothing is known yet. */
export function keeper({ mover, rules, words, clock }: KeeperOptions): Keeper {
  let former: string | undefined
  const strangers = sights(() => clock.now())
  return {
    attempt: (...attempt) => mover.attempt(...attempt),
    forget() {
      mover.forget()
      strangers.forget()
    },
    tried: () => mover.tried(),
    saw([machine, ...others]) {
      if (machine === undefined || others.length > 0) return undefined
      former = machine
      const tried = mover.tried()
      if (tried?.to.machine !== machine) return undefined
      mover.settle()
      return tried
    },
    decide({ nodes, assigned, address, own }) {
      const isStranger = assigned.length === 1 && !nodes.some(({ machine }) => machine === assigned[0])
      return planMove({
        nodes,
        assigned,
        address,
        own,
        rules,
        words,
        former,
        strangerForMs: strangers.forMs('stranger', isStranger ? assigned[0] : undefined),
        refused: mover.refused(),
        pause: (reason) => mover.pause(reason),
      })
    },
  }
}
