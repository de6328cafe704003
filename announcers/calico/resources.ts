import type { KubeObject } from '../../kube/objects.ts'
import { resourcesOf } from '../../kube/resource.ts'

export const apiVersion = 'projectcalico.org/v3'

/** Names the namespace of the Secret on our peers, because a later removal may run with another setting. */
export const namespaceAnnotation = 'eip-admission.dev/calico-namespace'

/** Lists our entries in the BGPConfiguration that we share with people, separated by commas. */
export const entriesAnnotation = 'eip-admission.dev/announced-addresses'

type Cidr = { cidr: string }
type FilterRule = { action: 'Accept' | 'Reject'; source?: 'RemotePeers'; matchOperator?: 'Equal'; cidr?: string }

/** The fields of Calico's resources that we write, or that can conflict with what we write. */
export type BGPPeer = KubeObject & {
  kind: 'BGPPeer'
  spec: {
    node?: string
    nodeSelector?: string
    peerIP?: string
    asNumber?: number
    localASNumber?: number
    sourceAddress?: 'UseNodeIP' | 'None'
    password?: { secretKeyRef: { name: string; key: string } }
    filters?: string[]
  }
}

export type BGPFilter = KubeObject & { kind: 'BGPFilter'; spec: { importV4: FilterRule[]; exportV4: FilterRule[] } }

export type BGPConfiguration = KubeObject & { kind: 'BGPConfiguration'; spec?: { serviceLoadBalancerIPs?: Cidr[] } }

export type IPPool = KubeObject & { kind: 'IPPool'; spec?: { allowedUses?: string[] } }

export type KubeControllersConfiguration = KubeObject & {
  kind: 'KubeControllersConfiguration'
  status?: { runningConfig?: { controllers?: { loadBalancer?: object } } }
}

const { ofCluster } = resourcesOf(apiVersion)

/** Calico's kinds, all of them cluster-scoped. */
export const calicoResources = {
  peers: ofCluster<BGPPeer>('BGPPeer'),
  filters: ofCluster<BGPFilter>('BGPFilter'),
  configurations: ofCluster<BGPConfiguration>('BGPConfiguration'),
  pools: ofCluster<IPPool>('IPPool'),
  controllers: ofCluster<KubeControllersConfiguration>('KubeControllersConfiguration'),
}

export const isPeer = (object: KubeObject): object is BGPPeer => object.kind === 'BGPPeer'
export const isConfiguration = (object: KubeObject): object is BGPConfiguration => object.kind === 'BGPConfiguration'
export const isIPPool = (object: KubeObject): object is IPPool => object.kind === 'IPPool'
export const isControllers = (object: KubeObject): object is KubeControllersConfiguration =>
  object.kind === 'KubeControllersConfiguration'
