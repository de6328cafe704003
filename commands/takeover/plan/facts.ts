import type { Fact } from '../../../inspect/fact.ts'
import type { Context, Values } from '../../../inspect/facts.ts'
import type { Predecessor } from '../../../inspect/predecessors.ts'
import type { KubeObject, Lease, Secret } from '../../../kube/objects.ts'
import type { FoundPredecessors } from '../../../inspect/find-predecessors.ts'
import type { GivenSettings } from '../../../inspect/given-settings.ts'
import type { Translation } from './translate.ts'
import type { Progress } from '../progress.ts'
import type { Right } from '../rights.ts'
import type { PlanFinding } from './plan.ts'

/** The facts that decide about the addresses of Services. */
export type ServiceFacts = Pick<Values, 'cluster' | 'services' | 'records' | 'reservations' | 'controlPlane'>

/** The facts of `takeover plan`: those that `doctor` reads too, and some of its own. */
type TakeoverValues = ServiceFacts &
  Pick<Values, 'server' | 'nodes' | 'workloads' | 'definitions' | 'metallb' | 'document' | 'sessions'> &
  Pick<Values, 'cloudReads' | 'cloudPace' | 'machines' | 'peers' | 'seenSessions'> & {
    /** The leases of the predecessor and of ours. */
    leases: Lease[]
    /** The Secret with the password of MetalLB's sessions, which we may have written. */
    bgpSecret: Secret | undefined
    autoscalers: Autoscaler[]
    /** The record of a takeover that was started. */
    progress: Progress | undefined
    /** The rights that `apply` needs and the person lacks. */
    lacked: Right[]
    /** The lease of the run that works on it. */
    lock: Lease | undefined
  }

export type TakeoverFacts = { [Name in keyof TakeoverValues]: Fact<TakeoverValues[Name]> }

export type Autoscaler = KubeObject & { spec?: { scaleTargetRef?: { kind: string; name: string } } }

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
  /** The person says that the announcing software runs, although it cannot be seen. */
  announcerRuns: boolean
}

/** The value of a fact; undefined if it was not read. */
export function valueOf<T>(fact: Fact<T>): T | undefined {
  return 'value' in fact ? fact.value : undefined
}

/** The values of these facts; undefined if one of them was not read. */
export function valuesOf<Name extends keyof TakeoverValues>(
  facts: TakeoverFacts,
  names: readonly Name[],
): Pick<TakeoverValues, Name> | undefined {
  if (names.some((name) => 'unread' in facts[name])) return undefined
  const entries = names.map((name) => [name, valueOf<unknown>(facts[name])])
  // Each of them was read.
  return Object.fromEntries(entries) as Pick<TakeoverValues, Name>
}

/** Blockers for unread facts: a plan without them would promise too much. */
export function unreadFindings(facts: TakeoverFacts): PlanFinding[] {
  return Object.entries(facts).flatMap(([name, fact]) => {
    if (!('unread' in fact)) return []
    const what = `it could not be read: ${fact.unread}`
    const remedy = fact.isForbidden
      ? 'run takeover plan with the rights to read it; to read Secrets, as an administrator of the cluster'
      : 'run takeover plan again when that is over'
    return [{ isBlocker: true, reason: 'unread', where: name, what, remedy }]
  })
}
