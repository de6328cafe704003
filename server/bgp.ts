import type { ProjectPeering } from '../clouds/peering.ts'
import type { AnnotationScheme } from '../controllers/peering/node-annotations.ts'
import type { LabelRequirement } from '../kube/selector.ts'
import type { CloudSettings } from './settings/dialects.ts'
import type { LoadBalancer } from './settings/load-balancer.ts'

/** BGP as the settings want it. */
export type Bgp = {
  /** Whether there is anything to announce by it. */
  isOn: boolean
  project: ProjectPeering
  selector: LabelRequirement[]
  annotations: AnnotationScheme
  /** Addresses that the routers take from a node. */
  mostPrefixes: number
}

/** What the predecessor called these annotations before its version 3.3. */
const outdated = ['node-asn', 'peer-asn', 'peer-ip', 'src-ip', 'bgp-pass'].map((name) => `metal.equinix.com/${name}`)

/** What the settings of Equinix Metal say of BGP. */
export function equinixMetalBgp(settings: CloudSettings['settings']): Bgp {
  const { kind } = settings.loadBalancer
  return {
    isOn: kind !== 'none' && kind !== 'emlb',
    project: { asn: settings.localAsn, password: settings.bgpPass },
    selector: settings.bgpNodeSelector ?? [],
    // The project's configuration calls it max_prefix, and only the vendor's support changes it.
    mostPrefixes: 10,
    annotations: {
      names: {
        localAsn: settings.annotationLocalAsn,
        peerAsn: settings.annotationPeerAsn,
        peerAddress: settings.annotationPeerIp,
        sourceAddress: settings.annotationSrcIp,
        password: settings.annotationBgpPass,
        privateNetwork: settings.annotationNetworkIpv4Private,
      },
      showsPasswords: readsAnnotations[kind],
      // kube-vip takes them for the current ones, or not, from one start to the next.
      outdated: kind === 'kube-vip' ? outdated : [],
    },
  }
}

/** MetalLB gets passwords by a Secret; everybody who may read nodes can read an annotation. */
const readsAnnotations: Record<LoadBalancer['kind'], boolean> = {
  'kube-vip': true,
  empty: true,
  metallb: false,
  'metallb-crd': false,
  'metallb-configmap': false,
  emlb: false,
  none: false,
}
