import type { Condition, KubeObject } from '../../kube/objects.ts'
import { resourcesOf } from '../../kube/resource.ts'
import type { LabelSelector } from '../../lib/label-selector.ts'

/** The fields of MetalLB's custom resources that we write, or that can conflict with what we write. */
export type IPAddressPool = KubeObject & {
  apiVersion: 'metallb.io/v1beta1'
  kind: 'IPAddressPool'
  /** Null in what we write removes the field, which MetalLB has known since 0.13.9. */
  spec: { addresses: string[]; autoAssign?: boolean; serviceAllocation?: { namespaces?: string[] } | null }
}

export type BGPPeer = KubeObject & {
  apiVersion: 'metallb.io/v1beta2'
  kind: 'BGPPeer'
  spec: {
    myASN: number
    peerASN?: number
    peerAddress?: string
    /** Null in what we write removes the field. */
    sourceAddress?: string | null
    routerID?: string
    vrf?: string
    holdTime?: string
    keepaliveTime?: string | null
    ebgpMultiHop?: boolean
    password?: string | null
    passwordSecret?: { name: string } | null
    nodeSelectors?: LabelSelector[]
  }
}

export type BGPAdvertisement = KubeObject & {
  apiVersion: 'metallb.io/v1beta1'
  kind: 'BGPAdvertisement'
  spec?: {
    ipAddressPools?: string[]
    ipAddressPoolSelectors?: LabelSelector[]
    aggregationLength?: number
    aggregationLengthV6?: number
    localPref?: number
    asPathPrepend?: number
    nodeSelectors?: LabelSelector[]
    peers?: string[]
    serviceSelectors?: LabelSelector[]
  }
}

/** The state of its configuration that a part of MetalLB reports, from 0.15.3 on. */
export type ConfigurationState = KubeObject & {
  apiVersion: 'metallb.io/v1beta1'
  kind: 'ConfigurationState'
  status?: { result?: 'Valid' | 'Invalid' | 'Unknown'; errorSummary?: string; conditions?: Condition[] }
}

const metallb = resourcesOf('metallb.io/v1beta1')

export const ipAddressPools = metallb.inNamespaces<IPAddressPool>('IPAddressPool')
/** Version v1beta1 has no Secret for the password, and needs MetalLB's webhook for every read. */
export const bgpPeers = resourcesOf('metallb.io/v1beta2').inNamespaces<BGPPeer>('BGPPeer')
export const bgpAdvertisements = metallb.inNamespaces<BGPAdvertisement>('BGPAdvertisement')
export const configurationStates = metallb.inNamespaces<ConfigurationState>('ConfigurationState')

/** The kinds that announce addresses, which we write and predecessors wrote. */
export const metallbKinds = [bgpAdvertisements, ipAddressPools, bgpPeers]

export const isPool = (object: KubeObject): object is IPAddressPool => object.kind === ipAddressPools.kind
export const isPeer = (object: KubeObject): object is BGPPeer => object.kind === bgpPeers.kind
export const isAdvertisement = (object: KubeObject): object is BGPAdvertisement =>
  object.kind === bgpAdvertisements.kind
export const isState = (object: KubeObject): object is ConfigurationState => object.kind === configurationStates.kind
