import { ifKnown } from '../../../controllers/announcing/list-known.ts'
import { listAll } from '../../../kube/list-all.ts'
import { defineResource, leases, secrets } from '../../../kube/resource.ts'
import { elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { names } from '../../../settings/installed-names.ts'
import { readFact } from '../../../inspect/fact.ts'
import type { Pod, Values, Workload } from '../../../inspect/facts.ts'
import { cloudFacts } from '../../../inspect/cloud.ts'
import { type SharedSource, settled, sharedReads } from '../../../inspect/cluster.ts'
import { pods } from '../../../inspect/kinds.ts'
import type { CloudReader, Reader } from '../../../inspect/reader.ts'
import type { Autoscaler, TakeoverFacts } from './facts.ts'
import { lockAt } from '../lock.ts'
import type { Right } from '../rights.ts'
import type { ObjectRef } from './plan.ts'

const autoscalers = defineResource<Autoscaler>({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  namespaced: true,
})

/** The pods of the namespaces in which a predecessor may run. */
export async function readPods(reader: Reader, namespaces: readonly string[]): Promise<Pod[]> {
  const lists = [...new Set(namespaces)].map((namespace) => listAll(reader, pods, { namespace }))
  return (await Promise.all(lists)).flat()
}

export type FactSource = SharedSource & {
  /** The rights that `apply` needs and this person lacks. */
  lacked: () => Promise<Right[]>
  vendor: CloudReader
  /** Deployments, DaemonSets and static pods. */
  workloads: Workload[]
  /** The calls to the cloud, counted by the client. */
  pace: Values['cloudPace']
  /** The leases of the predecessor and of ours. */
  leasesAt: readonly ObjectRef[]
  progress: TakeoverFacts['progress']
}

/** Reads all facts, each by itself: a read that fails hides no other. Nothing is written. */
export async function readFacts(source: FactSource): Promise<TakeoverFacts> {
  const { reader, context, vendor, workloads, pace, leasesAt, lacked, progress } = source
  const { loadBalancer } = context.vendor
  const { namespace } = context.settings.process
  const cloud = cloudFacts(vendor, { context, pace })
  const cluster = settled({
    ...sharedReads(source),
    records: readFact(() => ifKnown([], () => listAll(reader, elasticIPs))),
    workloads: Promise.resolve({ value: workloads }),
    autoscalers: readFact(() => ifKnown([], () => listAll(reader, autoscalers))),
    leases: readFact(async () => {
      const found = await Promise.all(leasesAt.map((at) => reader.get(leases, at)))
      return found.filter((lease) => lease !== undefined)
    }),
    progress: Promise.resolve(progress),
    lacked: readFact(lacked),
    lock: readFact(() => reader.get(leases, lockAt(namespace))),
    bgpSecret: readFact(async () =>
      loadBalancer.kind === 'metallb-crd' || loadBalancer.kind === 'metallb'
        ? reader.get(secrets, { namespace: loadBalancer.namespace, name: names.bgpSecret })
        : undefined,
    ),
  })
  return { ...(await cluster), ...(await cloud) }
}
