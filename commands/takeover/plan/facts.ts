import { cloudFacts } from '../../../inspect/cloud.ts'
import { type SharedSource, settled, sharedReads } from '../../../inspect/cluster.ts'
import { type Fact, readFact, valuesOf } from '../../../inspect/fact.ts'
import type { CloudReader } from '../../../inspect/reader.ts'
import { listAllKnown } from '../../../kube/list-all.ts'
import { leases, secrets } from '../../../kube/resource.ts'
import { elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { names } from '../../../settings/installed-names.ts'
import { lockAt } from '../lock.ts'
import type { Context, Values } from '../../../inspect/facts.ts'
import type { Predecessor } from '../../../inspect/predecessors.ts'
import type { Lease, Secret } from '../../../kube/objects.ts'
import type { Workload } from '../../../kube/workloads.ts'
import type { FoundPredecessors } from '../../../inspect/find-predecessors.ts'
import type { GivenSettings } from '../../../inspect/given-settings.ts'
import type { Translation } from './translate.ts'
import type { Progress } from '../progress.ts'
import { type ObjectRef, type PlanFinding, blocker } from './plan.ts'

/** The facts that determine the addresses of Services. */
export type ServiceFacts = Pick<Values, 'cluster' | 'services' | 'records' | 'reservations' | 'controlPlane'>

/** The facts of `takeover plan`: some that `doctor` reads too, and some of its own. */
type TakeoverValues = ServiceFacts &
  Pick<Values, 'server' | 'nodes' | 'workloads' | 'definitions' | 'metallb' | 'document' | 'sessions'> &
  Pick<Values, 'cloudReads' | 'cloudPace' | 'machines' | 'peers' | 'seenSessions'> & {
    /** The leases of the predecessor and of ours. */
    leases: Lease[]
    /** The Secret with the password of MetalLB's sessions, which we may have written. */
    bgpSecret: Secret | undefined
    /** The record of a takeover that was started. */
    progress: Progress | undefined
    /** Whether the person may do everything in the cluster. */
    isAdministrator: boolean
    /** The lease of the run that works on the takeover. */
    lock: Lease | undefined
  }

export type TakeoverFacts = { [Name in keyof TakeoverValues]: Fact<TakeoverValues[Name]> }

/** Everything that a plan is made from. */
export type PlanInput = {
  found: FoundPredecessors
  predecessor: Predecessor
  given: GivenSettings
  translation: Translation
  /** The flags of `serve` after the takeover: the translated ones and those that the person gave. */
  flags: Record<string, string>
  facts: TakeoverFacts
  context: Context
}

/** The values of these facts; undefined if any of them was not read. */
export function readValues<Name extends keyof TakeoverValues>(
  facts: TakeoverFacts,
  names: readonly Name[],
): Pick<TakeoverValues, Name> | undefined {
  return names.some((name) => 'unread' in facts[name]) ? undefined : valuesOf<TakeoverValues, Name>(facts, names)
}

/** Blockers for unread facts: a plan without them would promise too much. */
export function unreadFindings(facts: TakeoverFacts): PlanFinding[] {
  return Object.entries(facts).flatMap(([name, fact]) => {
    if (!('unread' in fact)) return []
    const what = `it could not be read: ${fact.unread}`
    const remedy = fact.isForbidden
      ? 'run takeover plan with the rights to read it; to read Secrets, as an administrator of the cluster'
      : 'run takeover plan again when that is over'
    return [blocker('unread', name, { what, remedy })]
  })
}

type FactSource = SharedSource & {
  vendor: CloudReader
  pace: Values['cloudPace']
  /** Deployments, DaemonSets and static pods. */
  workloads: Workload[]
  leasesAt: readonly ObjectRef[]
  progress: TakeoverFacts['progress']
  isAdministrator: () => Promise<boolean>
}

/** Reads all facts separately, so that a failed read hides no other. Writes nothing. */
export async function readFacts(source: FactSource): Promise<TakeoverFacts> {
  const { reader, context, vendor, workloads, pace, leasesAt, isAdministrator, progress } = source
  const { loadBalancer } = context.vendor
  const { namespace } = context.settings.process
  const hasSecret = loadBalancer.kind === 'metallb-crd' || loadBalancer.kind === 'metallb'
  const [cloud, cluster] = await Promise.all([
    cloudFacts(vendor, { context, pace }),
    settled({
      ...sharedReads(source),
      records: readFact(() => listAllKnown(reader, elasticIPs)),
      workloads: Promise.resolve({ value: workloads }),
      leases: readFact(async () => {
        const found = await Promise.all(leasesAt.map((at) => reader.get(leases, at)))
        return found.filter((lease) => lease !== undefined)
      }),
      progress: Promise.resolve(progress),
      isAdministrator: readFact(isAdministrator),
      lock: readFact(() => reader.get(leases, lockAt(namespace))),
      bgpSecret: readFact(async () =>
        hasSecret ? reader.get(secrets, { namespace: loadBalancer.namespace, name: names.bgpSecret }) : undefined,
      ),
    }),
  ])
  return { ...cluster, ...cloud }
}
