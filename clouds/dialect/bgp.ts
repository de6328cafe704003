import type { ProjectPeering, AnnotationScheme } from '../ports/peering.ts'
import type { LabelRequirement } from '../../lib/label-selector.ts'
import { softwareOf } from '../../announcers/announcers.ts'
import type { LoadBalancer } from '../../announcers/setting.ts'
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
export function makeBgp(loadBalancer: LoadBalancer, dialect: DialectBgp): Bgp {
  const software = softwareOf(loadBalancer)
  const { project, selector = [], names, maxPrefixes, outdated = [] } = dialect
  return {
    isOn: software !== undefined && software.needs !== 'assignment',
    project,
    selector,
    maxPrefixes,
    annotations: {
      names,
      // Everybody with the right to read nodes can read an annotation: the password is there only where it has to be.
      showsPasswords: software?.readsNodePeers ?? false,
      // Such software may read them instead of the current ones; which it reads can change with each of its starts.
      outdated: software?.readsNodePeers ? outdated : [],
    },
  }
}
