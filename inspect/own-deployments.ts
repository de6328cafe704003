import { listAll } from '../kube/list-all.ts'
import type { Container, Workload } from './facts.ts'
import { deployments } from './kinds.ts'
import type { Reader } from './reader.ts'

/** The label of the Deployments of eip-admission, however they were installed. */
export const ownLabel = 'app.kubernetes.io/name=eip-admission'

/** The Deployments of eip-admission, in whatever namespace they are. */
export function listOwnDeployments(reader: Pick<Reader, 'list'>): Promise<Workload[]> {
  return listAll(reader, deployments, { labelSelector: ownLabel })
}

/** The container of the process: others may come before it. */
export function ownContainer(found: readonly Workload[]): Container | undefined {
  const containers = found.flatMap(({ spec }) => spec?.template?.spec?.containers ?? [])
  return containers.find(({ name }) => name === 'eip-admission') ?? containers[0]
}
