import { isForbidden, resultUnless } from '../kube/errors.ts'
import { listAll } from '../kube/list-all.ts'
import { type Container, type Workload, containersIn, deployments } from '../kube/workloads.ts'
import { names } from '../settings/installed-names.ts'
import { clusterRoleBindings } from './kinds.ts'
import type { Reader } from './reader.ts'

/** The label of the Deployments of eip-admission, however they were installed. */
export const ownLabel = 'app.kubernetes.io/name=eip-admission'

/**
 * The namespace that has the rights of eip-admission in the cluster; undefined if none has. Anyone who may write
 * Deployments in a namespace can label one as eip-admission's; only administrators write this binding.
 */
export async function ownNamespaceIn(reader: Pick<Reader, 'get'>): Promise<string | undefined> {
  const binding = await reader.get(clusterRoleBindings, { name: names.serviceAccount })
  return binding?.subjects?.find(({ name }) => name === names.serviceAccount)?.namespace
}

/** The Deployments of eip-admission, only from the namespace that has its rights if the reader may know which. */
export async function listOwnDeployments(reader: Reader): Promise<Workload[]> {
  const namespace = await resultUnless(isForbidden, ownNamespaceIn(reader))
  return listAll(reader, deployments, { labelSelector: ownLabel, ...(namespace !== undefined && { namespace }) })
}

/** The container of the process: others may come before it. */
export function ownContainer(found: readonly Workload[]): Container | undefined {
  const containers = found.flatMap(containersIn)
  return containers.find(({ name }) => name === 'eip-admission') ?? containers[0]
}
