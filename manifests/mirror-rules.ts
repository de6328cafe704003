import { controlPlaneServices } from '../clouds/cloud-choice.ts'
import { splitKey } from '../kube/objects.ts'
import type { Rule } from '../kube/rbac-rule.ts'

const resourceNames = controlPlaneServices.map((key) => splitKey(key).name)

/** The API servers publish their address in one slice; a few more are no reason to fail. */
const sliceNames = resourceNames.flatMap((service) => [1, 2, 3].map((n) => `${service}-${n}`))

const slices = { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] }

/**
 * What the Service of the control-plane address needs in kube-system. RBAC cannot name the object of a create; what exists is
 * named, because whoever changes the endpoints of another Service here takes its traffic.
 */
export const mirrorRules: Rule[] = [
  { apiGroups: [''], resources: ['services'], verbs: ['create'] },
  { apiGroups: [''], resources: ['services'], resourceNames, verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [''], resources: ['services/status'], resourceNames, verbs: ['patch'] },
  { apiGroups: [''], resources: ['endpoints'], resourceNames, verbs: ['get', 'list', 'watch', 'update'] },
  { ...slices, verbs: ['create', 'list', 'watch'] },
  { ...slices, resourceNames: sliceNames, verbs: ['get', 'update', 'delete'] },
]

/** What it mirrors, in default: the API servers publish there where they listen. */
export const apiServerRules: Rule[] = [
  { apiGroups: [''], resources: ['services'], resourceNames: ['kubernetes'], verbs: ['get'] },
  { ...slices, verbs: ['get', 'list', 'watch'] },
]
