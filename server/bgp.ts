import type { ProjectPeering } from '../clouds/peering.ts'
import type { AnnotationScheme } from '../controllers/peering/node-annotations.ts'
import type { LabelRequirement } from '../lib/label-selector.ts'
import type { LoadBalancer } from './settings/load-balancer.ts'

/** BGP as the settings request it. */
export type Bgp = {
  /** Whether addresses are announced by BGP. */
  isOn: boolean
  project: ProjectPeering
  selector: LabelRequirement[]
  annotations: AnnotationScheme
  /** How many addresses the routers accept from a node, if that is known. */
  maxPrefixes: number | undefined
}

/** What a dialect alone can say of BGP. */
export type BgpWords = {
  project: ProjectPeering
  selector?: LabelRequirement[] | undefined
  names: AnnotationScheme['names']
  maxPrefixes?: number
  /** What its predecessor called these annotations earlier. */
  outdated?: readonly string[]
}

/** BGP for one dialect. The announcing software decides whether it is on, and where passwords are written. */
export function bgpOf({ kind }: LoadBalancer, words: BgpWords): Bgp {
  const { project, selector = [], names, maxPrefixes, outdated = [] } = words
  return {
    isOn: kind !== 'none' && kind !== 'emlb',
    project,
    selector,
    maxPrefixes,
    annotations: {
      names,
      showsPasswords: readsAnnotations[kind],
      // kube-vip may read them instead of the current ones, and that differs from start to start.
      outdated: kind === 'kube-vip' ? outdated : [],
    },
  }
}

/** MetalLB reads passwords from a Secret. Annotations are readable for all who can read nodes. */
const readsAnnotations: Record<LoadBalancer['kind'], boolean> = {
  'kube-vip': true,
  empty: true,
  metallb: false,
  'metallb-crd': false,
  'metallb-configmap': false,
  emlb: false,
  none: false,
}
