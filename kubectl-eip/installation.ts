import type { KubeClient } from '../kube/client.ts'
import { listAll } from '../kube/list-all.ts'
import type { Workload } from '../inspect/facts.ts'
import { deployments } from '../inspect/kinds.ts'
import { ownNamespace } from '../settings/process.ts'
import { type Readable, readable, valueOf } from './reader.ts'

/** The Deployments of eip-admission, in whatever namespace they are. */
export function readDeployments(client: Pick<KubeClient, 'list'>): Promise<Readable<Workload[]>> {
  const labelSelector = 'app.kubernetes.io/name=eip-admission'
  return readable('list Deployments', listAll(client, deployments, { labelSelector }))
}

/** Where eip-admission is installed; the usual namespace where a person may not see it, or it runs outside of the cluster. */
export function namespaceOf(read: Readable<Workload[]>): string {
  return valueOf(read)?.[0]?.metadata.namespace ?? ownNamespace.default
}

/** The container of the process: others may come before it. */
export function containerOf(read: Workload[]) {
  const containers = read.flatMap(({ spec }) => spec?.template?.spec?.containers ?? [])
  return containers.find(({ name }) => name === 'eip-admission') ?? containers[0]
}
