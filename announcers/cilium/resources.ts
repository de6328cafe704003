import type { Condition, KubeObject } from '../../kube/objects.ts'
import { resourcesOf } from '../../kube/resource.ts'
import type { LabelSelector } from '../../lib/label-selector.ts'

/** The version that Cilium 1.18 introduced, so every Cilium that we support has it. */
export const apiVersion = 'cilium.io/v2'

/**
 * Names the namespace of the Secret on our peer configurations, because a later removal may run with another setting.
 */
export const secretsAnnotation = 'eip-admission.dev/bgp-secrets-namespace'

type Conditions = { conditions?: Condition[] }

/** The fields of Cilium's custom resources that we write, or that can conflict with what we write. */
export type LoadBalancerIPPool = KubeObject & {
  kind: 'CiliumLoadBalancerIPPool'
  spec?: { blocks?: { cidr?: string; start?: string; stop?: string }[]; serviceSelector?: LabelSelector }
  status?: Conditions
}

export type BGPPeerConfig = KubeObject & {
  kind: 'CiliumBGPPeerConfig'
  spec: {
    authSecretRef?: string
    ebgpMultihop: number
    timers: { connectRetryTimeSeconds: number; holdTimeSeconds: number; keepAliveTimeSeconds: number }
    families: { afi: string; safi: string; advertisements: LabelSelector }[]
  }
  status?: Conditions
}

export type BGPAdvertisement = KubeObject & {
  kind: 'CiliumBGPAdvertisement'
  spec: { advertisements: { advertisementType: string; service: { addresses: string[] }; selector: LabelSelector }[] }
}

export type BGPNodeConfigOverride = KubeObject & {
  kind: 'CiliumBGPNodeConfigOverride'
  spec: { bgpInstances?: { name: string; peers?: { name: string; localAddress?: string }[] }[] }
}

export type BGPClusterConfig = KubeObject & {
  kind: 'CiliumBGPClusterConfig'
  spec: { nodeSelector?: LabelSelector; bgpInstances?: { name: string; localASN: number; peers?: ClusterPeer[] }[] }
  status?: Conditions
}

export type ClusterPeer = {
  name: string
  peerAddress: string
  peerASN: number
  peerConfigRef: { name: string }
}

/** The object that Cilium's operator creates for each node, in which the node's agent reports. */
export type BGPNodeConfig = KubeObject & {
  kind: 'CiliumBGPNodeConfig'
  status?: Conditions & {
    bgpInstances?: { name: string; peers?: { peerAddress: string; peeringState?: string }[] }[]
  }
}

const { ofCluster } = resourcesOf(apiVersion)

/** Cilium's kinds, all of them cluster-scoped. */
export const ciliumResources = {
  pools: ofCluster<LoadBalancerIPPool>('CiliumLoadBalancerIPPool'),
  peerConfigs: ofCluster<BGPPeerConfig>('CiliumBGPPeerConfig'),
  advertisements: ofCluster<BGPAdvertisement>('CiliumBGPAdvertisement'),
  overrides: ofCluster<BGPNodeConfigOverride>('CiliumBGPNodeConfigOverride'),
  clusterConfigs: ofCluster<BGPClusterConfig>('CiliumBGPClusterConfig'),
  nodeConfigs: ofCluster<BGPNodeConfig>('CiliumBGPNodeConfig'),
}

export const isPool = (object: KubeObject): object is LoadBalancerIPPool => object.kind === 'CiliumLoadBalancerIPPool'
export const isPeerConfig = (object: KubeObject): object is BGPPeerConfig => object.kind === 'CiliumBGPPeerConfig'
export const isOverride = (object: KubeObject): object is BGPNodeConfigOverride =>
  object.kind === 'CiliumBGPNodeConfigOverride'
export const isClusterConfig = (object: KubeObject): object is BGPClusterConfig =>
  object.kind === 'CiliumBGPClusterConfig'
export const isNodeConfig = (object: KubeObject): object is BGPNodeConfig => object.kind === 'CiliumBGPNodeConfig'
