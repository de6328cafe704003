import type { KubeClient } from '../kube/client.ts'
import type { Container, Workload } from '../inspect/facts.ts'
import { listOwnDeployments, ownContainer } from '../inspect/own-deployments.ts'
import { leaderElection } from '../settings/leader-election.ts'
import { ownNamespace } from '../settings/process.ts'
import { type Readable, readable, valueOf } from './reader.ts'

/** The Deployments of eip-admission. */
export function readDeployments(client: Pick<KubeClient, 'get' | 'list'>): Promise<Readable<Workload[]>> {
  return readable('list Deployments', listOwnDeployments(client))
}

/** Where eip-admission is installed; the usual namespace where a person may not see it, or it runs outside of the cluster. */
export function namespaceOf(read: Readable<Workload[]>): string {
  return valueOf(read)?.[0]?.metadata.namespace ?? ownNamespace.default
}

/** The value of a flag in the arguments of the process. */
export function flagOf(flag: string, { args = [] }: Container): string | undefined {
  const at = args.findLastIndex((arg) => arg === flag || arg.startsWith(`${flag}=`))
  return args[at] === flag ? args[at + 1] : args[at]?.slice(flag.length + 1)
}

/** The lease by which the leader leads; `doubt` says why it may be another one. */
export function leaseOf(read: Readable<Workload[]>): { namespace: string; name: string; doubt?: string } {
  const { leaseNamespace, leaseName } = leaderElection
  const container = ownContainer(valueOf(read) ?? [])
  const given = ({ flag, default: standard }: typeof leaseNamespace | typeof leaseName) =>
    (container && flagOf(flag, container)) ?? standard
  const lease = { namespace: given(leaseNamespace), name: given(leaseName) }
  if (container) return lease
  const doubt = 'missing' in read ? `you may not ${read.missing}` : 'no Deployment of eip-admission names another'
  return { ...lease, doubt }
}
