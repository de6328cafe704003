// Whether the person who runs a command may do what it does, according to the API server.
import { metallbKinds } from '../../announcers/metallb/resources.ts'
import { daemonSets, definitionsRead, deployments } from '../../inspect/kinds.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isForbidden, isNotFound } from '../../kube/errors.ts'
import type { KubeObject } from '../../kube/objects.ts'
import {
  configMaps,
  defineResource,
  leases,
  mutatingWebhookConfigurations,
  namespaces,
  services,
  validatingWebhookConfigurations,
} from '../../kube/resource.ts'
import { elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { mapAll } from '../../lib/map-all.ts'
import { type ObjectRef, type PlanFindings, blocker } from './plan/plan.ts'
import type { WorkloadRef } from './workloads.ts'

/** A right that a command needs. */
export type Right = { verb: string; group: string; resource: string; namespace?: string }

type Kind = Pick<typeof services, 'apiVersion' | 'plural'>

type Places = { namespace: string; lease: ObjectRef; workloads: readonly WorkloadRef[] }

const webhooks = [mutatingWebhookConfigurations, validatingWebhookConfigurations]

/** The rights of `apply` besides reads: to install, to stop the predecessor and to start ours. */
export function applyRights(places: Places): Right[] {
  return [
    ...rights(['create', 'patch'], [namespaces, definitionsRead, ...webhooks]),
    ...runRights(places),
    // For a dry run that checks whether the webhooks answer.
    ...rights(['create'], [services], places.namespace),
  ]
}

/** The rights of `undo` besides reads. */
export function undoRights(places: Places & { metallb: string | undefined }): Right[] {
  return [
    ...rights(['delete'], webhooks),
    ...runRights(places),
    ...rights(['delete'], [configMaps], places.namespace),
    ...rights(['patch'], [services]),
    ...rights(['patch', 'delete'], [elasticIPs]),
    ...(places.metallb === undefined ? [] : rights(['create', 'patch', 'delete'], metallbKinds, places.metallb)),
  ]
}

/** The rights of both: to the lock, the record, the leader's lease and workloads. */
function runRights({ namespace, lease, workloads }: Places): Right[] {
  return [
    ...rights(['create', 'patch'], [configMaps], namespace),
    ...[namespace, lease.namespace].flatMap((of) => rights(['create', 'update'], [leases], of)),
    ...rights(['patch'], [deployments], namespace),
    ...workloads.flatMap(({ kind, namespace: of }) =>
      rights(['patch'], [kind === 'DaemonSet' ? daemonSets : deployments], of),
    ),
  ]
}

function rights(verbs: readonly string[], kinds: readonly Kind[], namespace?: string): Right[] {
  return kinds.flatMap(({ apiVersion, plural }) => {
    const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : []
    return verbs.map((verb) => ({ verb, group, resource: plural, ...(namespace !== undefined && { namespace }) }))
  })
}

type AccessReview = KubeObject & { spec: { resourceAttributes: Right }; status?: { allowed?: boolean } }

const accessReviews = defineResource<AccessReview>({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
  isReview: true,
})

const asksAtOnce = 8

/** Returns the rights that this person lacks, without duplicates. The request stores nothing. */
export async function lackedRights(client: Pick<KubeClient, 'create'>, all: readonly Right[]): Promise<Right[]> {
  const distinct = [...new Map(all.map((right) => [rightText(right), right])).values()]
  const answers = await mapAll(distinct, (right) => isRefused(client, right), asksAtOnce)
  return distinct.filter((_right, n) => answers[n])
}

async function isRefused(client: Pick<KubeClient, 'create'>, right: Right): Promise<boolean> {
  const { apiVersion, kind } = accessReviews
  const review: AccessReview = { apiVersion, kind, metadata: { name: '' }, spec: { resourceAttributes: right } }
  try {
    return (await client.create(accessReviews, review)).status?.allowed === false
  } catch (error) {
    // If the person may not even ask, the command finds out by itself.
    if (isForbidden(error) || isNotFound(error)) return false
    throw error
  }
}

/** The blocker of a command if the person lacks rights. */
export function rightsFindings(lacked: readonly Right[], command: 'apply' | 'undo'): PlanFindings {
  if (lacked.length === 0) return []
  return blocker('rights', 'your rights', {
    what: `the API server would refuse you to ${lacked.map(rightText).join(', ')}`,
    remedy: `run it as an administrator of the cluster; to see who you are: \`kubectl auth whoami\`; then: \`eip-admission takeover ${command}\``,
  })
}

function rightText({ verb, group, resource, namespace }: Right): string {
  const what = group === '' ? resource : `${resource}.${group}`
  return `${verb} ${what}${namespace === undefined ? '' : ` in namespace ${namespace}`}`
}
