import type { AnnouncementState } from '../announcers/check.ts'
import { resourcesOf } from '../kube/resource.ts'
import type { RoleObject, SessionState } from './facts.ts'

/** Kinds that only the commands for people read. */

export const clusterRoleBindings =
  resourcesOf('rbac.authorization.k8s.io/v1').ofCluster<RoleObject>('ClusterRoleBinding')
export const sessionStates = resourcesOf('frrk8s.metallb.io/v1beta1').inNamespaces<SessionState>('BGPSessionState')
export const announcementStates = resourcesOf('metallb.io/v1beta1').inNamespaces<AnnouncementState>(
  'ServiceBGPStatus',
  'servicebgpstatuses',
)
