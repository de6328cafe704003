import type { KubeClient } from '../../kube/client.ts'
import { isForbidden, isNotFound, resultUnless } from '../../kube/errors.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { defineResource } from '../../kube/resource.ts'
import { type PlanFindings, blocker } from './plan/plan.ts'

type AccessReview = KubeObject & { spec: { resourceAttributes: object }; status?: { allowed?: boolean } }

const accessReviews = defineResource<AccessReview>({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
  isReview: true,
})

/** A person can grant only rights that they have, and `install` grants those of `serve`. So an administrator is needed. */
const everything = { verb: '*', group: '*', resource: '*' }

/** Whether the API server allows this person everything. The request stores nothing. */
export async function isAdministrator(client: Pick<KubeClient, 'create'>): Promise<boolean> {
  const { apiVersion, kind } = accessReviews
  const spec = { resourceAttributes: everything }
  const asked = client.create(accessReviews, { apiVersion, kind, metadata: { name: '' }, spec })
  // If the person may not even ask, the command learns it from its own calls.
  const review = await resultUnless((error) => isForbidden(error) || isNotFound(error), asked)
  return review?.status?.allowed !== false
}

/** The blocker of `apply` and `undo` for a person who is not an administrator of the cluster. */
export function rightsFinding(isAllowed: boolean | undefined): PlanFindings {
  if (isAllowed !== false) return []
  return blocker('rights', 'your rights', {
    what: 'you are not an administrator of the cluster: the API server does not allow you every verb on every resource',
    remedy: 'run the command as a user with the ClusterRole cluster-admin; `kubectl auth whoami` shows who you are',
  })
}
