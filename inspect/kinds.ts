import type { KubeObject } from '../kube/objects.ts'
import { defineResource } from '../kube/resource.ts'
import type { AnnouncementState, Definition, Pod, SessionState, Workload } from './facts.ts'

/** Kinds that only the commands for people read. */

export const pods = defineResource<Pod>({ apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true })

export const deployments = defineResource<Workload>({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
})

export const daemonSets = defineResource<Workload>({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  namespaced: true,
})

export const clusterRoleBindings = defineResource<
  KubeObject & { subjects?: { kind: string; name: string; namespace?: string }[] }
>({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
})

export const definitionsRead = defineResource<Definition>({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
})

export const sessionStates = defineResource<SessionState>({
  apiVersion: 'frrk8s.metallb.io/v1beta1',
  kind: 'BGPSessionState',
  plural: 'bgpsessionstates',
  namespaced: true,
})

export const announcementStates = defineResource<AnnouncementState>({
  apiVersion: 'metallb.io/v1beta1',
  kind: 'ServiceBGPStatus',
  plural: 'servicebgpstatuses',
  namespaced: true,
})
