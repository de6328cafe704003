import type { KubeObject } from '../kube/objects.ts'
import { resourcesOf } from '../kube/resource.ts'
import type { AnnouncementState, Definition, Pod, SessionState, Workload } from './facts.ts'

/** Kinds that only the commands for people read. */

export const pods = resourcesOf('v1').inNamespaces<Pod>('Pod')
const apps = resourcesOf('apps/v1')
export const deployments = apps.inNamespaces<Workload>('Deployment')
export const daemonSets = apps.inNamespaces<Workload>('DaemonSet')
export const clusterRoleBindings = resourcesOf('rbac.authorization.k8s.io/v1').ofCluster<
  KubeObject & { subjects?: { kind: string; name: string; namespace?: string }[] }
>('ClusterRoleBinding')
export const definitionsRead = resourcesOf('apiextensions.k8s.io/v1').ofCluster<Definition>('CustomResourceDefinition')
export const sessionStates = resourcesOf('frrk8s.metallb.io/v1beta1').inNamespaces<SessionState>('BGPSessionState')
export const announcementStates = resourcesOf('metallb.io/v1beta1').inNamespaces<AnnouncementState>(
  'ServiceBGPStatus',
  'servicebgpstatuses',
)
