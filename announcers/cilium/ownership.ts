import type { KubeObject } from '../../kube/objects.ts'
import { names } from '../../settings/installed-names.ts'

export type CiliumOptions = {
  /** Where Cilium reads the Secrets of BGP sessions: its setting bgpControlPlane.secretsNamespace.name. */
  secretsNamespace: string
}

/** The name of our advertisement and our peer configurations, and the beginning of all our other names. */
export const ownName = 'eip-admission'

/** Our Secret with the password of the sessions, which Cilium reads in the namespace of its BGP secrets. */
export const secretName = names.bgpSecret

/** Names that namespace on our peer configurations: a later removal may have another setting. */
export const secretsAnnotation = 'eip-admission.dev/bgp-secrets-namespace'

/** The labels of every object that we write. */
export const ownLabels = { 'app.kubernetes.io/managed-by': ownName }

/** The label selector of every object that we write. */
export const ownSelector = `app.kubernetes.io/managed-by=${ownName}`

/** Whether we wrote an object. */
export function isOurs({ metadata: { labels = {} } }: KubeObject): boolean {
  return Object.entries(ownLabels).every(([key, value]) => labels[key] === value)
}
