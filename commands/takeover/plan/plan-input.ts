import type { Context } from '../../../inspect/facts.ts'
import type { FoundPredecessors } from '../predecessors/find-predecessor.ts'
import type { GivenSettings } from '../predecessors/given-settings.ts'
import type { Predecessor } from '../../../inspect/predecessors.ts'
import type { Translation } from '../predecessors/translate.ts'
import type { TakeoverFacts } from './facts.ts'

/** Everything that a plan is made of. */
export type PlanInput = {
  found: FoundPredecessors
  predecessor: Predecessor
  given: GivenSettings
  translation: Translation
  /** The flags of `serve` after the takeover: translated ones, and those that the person gave. */
  flags: Record<string, string>
  facts: TakeoverFacts
  context: Context
}
