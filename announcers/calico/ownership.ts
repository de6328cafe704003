import type { KubeObject } from '../../kube/objects.ts'
import { names } from '../../settings/installed-names.ts'

export type CalicoOptions = {
  /** Where calico-node runs, and reads the Secret with the password of its sessions. */
  namespace: string
}

/** The name of our filter, and the beginning of the names of our peers. */
export const ownName = 'eip-admission'

/** Our Secret with the password of the sessions. */
export const secretName = names.bgpSecret

/** The labels of every object that we created. */
export const ownLabels = { 'app.kubernetes.io/managed-by': ownName }

/** The label selector of every object that we created. */
export const ownSelector = `app.kubernetes.io/managed-by=${ownName}`

/** Names the namespace of the Secret on our peers: a later removal may have another setting. */
export const namespaceAnnotation = 'eip-admission.dev/calico-namespace'

/** Names our entries in the BGPConfiguration that we share with people, with commas between them. */
export const entriesAnnotation = 'eip-admission.dev/announced-addresses'

/** Whether we created an object. */
export function isCreated({ metadata: { labels = {} } }: KubeObject): boolean {
  return Object.entries(ownLabels).every(([key, value]) => labels[key] === value)
}
