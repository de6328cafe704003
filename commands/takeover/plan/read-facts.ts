import { ifKnown } from '../../../controllers/announcing/list-known.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { Credentials } from '../../../kube/credentials.ts'
import { listAll } from '../../../kube/list-all.ts'
import type { KubeObject } from '../../../kube/objects.ts'
import { type Resource, configMaps, defineResource, leases, nodes, secrets, services } from '../../../kube/resource.ts'
import { serverFacts } from '../../../kube/server-facts.ts'
import { elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { names } from '../../../settings/installed-names.ts'
import { type Fact, readFact } from '../../../inspect/fact.ts'
import type { Context, Workload } from '../../../inspect/facts.ts'
import { cloudFacts } from '../../../inspect/cloud.ts'
import { listKnown, metallbObjects, readCluster, readDocument, settled } from '../../../inspect/cluster.ts'
import { daemonSets, definitionsRead, deployments, sessionStates } from '../../../inspect/kinds.ts'
import type { CloudReader } from '../../../inspect/reader.ts'
import type { Autoscaler, TakeoverFacts } from './facts.ts'
import { lockAt } from '../lock.ts'
import { readProgress } from '../progress.ts'
import type { ReadData } from '../predecessors/given-settings.ts'
import type { ObjectRef } from './plan.ts'
import type { ProgramObject } from '../predecessors/pod-template.ts'

/** The part of the API server's client that changes nothing. */
export type Reader = Pick<KubeClient, 'get' | 'list'>

const pods = defineResource<ProgramObject>({ apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true })

const autoscalers = defineResource<Autoscaler>({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  namespaced: true,
})

/** Every Deployment and DaemonSet. */
export async function readPrograms(reader: Reader): Promise<ProgramObject[]> {
  const kinds: Resource<KubeObject>[] = [deployments, daemonSets]
  return (await Promise.all(kinds.map((kind) => listAll(reader, kind)))).flat()
}

/** The pods of the namespaces in which a predecessor may run. */
export async function readPods(reader: Reader, namespaces: readonly string[]): Promise<ProgramObject[]> {
  const lists = [...new Set(namespaces)].map((namespace) => listAll(reader, pods, { namespace }))
  return (await Promise.all(lists)).flat()
}

/** Reads the data of Secrets and ConfigMaps as text. */
export function dataReader(reader: Reader): ReadData {
  return async ({ kind, namespace, name }) => {
    if (kind === 'ConfigMap') {
      const found = await reader.get(configMaps, { namespace, name })
      return found && (found.data ?? {})
    }
    const found = await reader.get(secrets, { namespace, name })
    const entries = Object.entries(found?.data ?? {})
    return found && Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))
  }
}

export type FactSource = {
  reader: Reader
  credentials: Credentials
  userAgent: string
  context: Context
  vendor: CloudReader
  programs: Fact<ProgramObject[]>
  /** The calls to the cloud, counted by the client. */
  pace: { calls: number; limited: number }
  /** The leases of the predecessor and of ours. */
  leasesAt: readonly ObjectRef[]
}

/** Reads all facts, each by itself: a read that fails hides no other. Nothing is written. */
export async function readFacts(source: FactSource): Promise<TakeoverFacts> {
  const { reader, credentials, userAgent, context, vendor, programs, pace, leasesAt } = source
  const { loadBalancer } = context.vendor
  const cloud = cloudFacts(vendor, { context, pace })
  const cluster = settled({
    server: readFact(() => serverFacts(credentials, userAgent)),
    cluster: readFact(() => readCluster(reader, context)),
    services: readFact(() => listAll(reader, services)),
    records: readFact(() => ifKnown([], () => listAll(reader, elasticIPs))),
    nodes: readFact(() => listAll(reader, nodes)),
    programs: Promise.resolve(programs),
    workloads: Promise.resolve(programs as Fact<Workload[]>),
    definitions: readFact(async () =>
      (await listAll(reader, definitionsRead)).filter(({ metadata }) => metadata.name.endsWith('.metallb.io')),
    ),
    metallb: readFact(() => metallbObjects(reader)),
    sessions: readFact(() => listKnown(reader, sessionStates)),
    autoscalers: readFact(() => ifKnown([], () => listAll(reader, autoscalers))),
    leases: readFact(async () => {
      const found = await Promise.all(leasesAt.map((at) => reader.get(leases, at)))
      return found.filter((lease) => lease !== undefined)
    }),
    progress: readFact(() => readProgress(reader, context.settings.process.namespace)),
    lock: readFact(() => reader.get(leases, lockAt(context.settings.process.namespace))),
    document: readFact(() => readDocument(reader, context)),
    bgpSecret: readFact(async () =>
      loadBalancer.kind === 'metallb-crd' || loadBalancer.kind === 'metallb'
        ? reader.get(secrets, { namespace: loadBalancer.namespace, name: names.bgpSecret })
        : undefined,
    ),
  })
  return { ...(await cluster), ...(await cloud) }
}
