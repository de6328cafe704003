import type { ProjectPeering, AnnotationScheme } from '../ports/peering.ts'
import type { LabelRequirement } from '../../lib/label-selector.ts'
import type { LoadBalancer } from '../../announcers/load-balancer-setting.ts'
import type { Bgp } from '../ports/peering.ts'

/** The part of the BGP settings that differs between dialects. */
export type DialectBgp = {
  project: ProjectPeering
  selector?: LabelRequirement[] | undefined
  names: AnnotationScheme['names']
  maxPrefixes?: number
  /** Names that an older version of the predecessor gave these annotations. */
  outdated?: readonly string[]
}

/** Makes the BGP settings. The announcing software decides whether BGP is on and whether annotations show passwords. */
export function makeBgp({ kind }: LoadBalancer, dialect: DialectBgp): Bgp {
  const { project, selector = [], names, maxPrefixes, outdated = [] } = dialect
  return {
    isOn: kind !== 'none' && kind !== 'emlb',
    project,
    selector,
    maxPrefixes,
    annotations: {
      names,
      showsPasswords: readsAnnotations[kind],
      // kube-vip may read them instead of the current ones; which it reads can change with each of its starts.
      outdated: kind === 'kube-vip' ? outdated : [],
    },
  }
}

/** Everybody with the right to read nodes can read an annotation: only kube-vip has to have the password there. */
const readsAnnotations: Record<LoadBalancer['kind'], boolean> = {
  'kube-vip': true,
  empty: false,
  metallb: false,
  'metallb-crd': false,
  'metallb-configmap': false,
  emlb: false,
  none: false,
}
