import type { ProjectPeering } from '../clouds/peering.ts'
import type { AnnotationScheme } from '../controllers/peering/node-annotations.ts'
import type { LabelRequirement } from '../lib/label-selector.ts'
import type { LoadBalancer } from './settings/load-balancer.ts'

/** BGP as the settings want it. */
export type Bgp = {
  /** Whether there is anything to announce by it. */
  isOn: boolean
  project: ProjectPeering
  selector: LabelRequirement[]
  annotations: AnnotationScheme
  /** Addresses that the routers take from a node, where that is known. */
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

/** BGP in the words of one dialect: whether it is on, and who learns passwords, follows from who announces. */
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
