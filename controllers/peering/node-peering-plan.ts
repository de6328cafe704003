import type { Node } from '../../kube/objects.ts'
import type { Said } from '../nodes/provider-id.ts'
import { type Annotations, type AnnotationScheme, ownNames, wantedAnnotations } from './node-annotations.ts'
import type { PeerFact } from './peer-facts.ts'

/** Everything that is known of a node when it is decided what to do about its peers. */
export type PeeringSeen = {
  node: Node | undefined
  said: Said
  isSelected: boolean
  fact: PeerFact | undefined
  /** Whether it is time to ask the cloud again. */
  isDue: boolean
}

export type PeeringStep =
  /** What is known is about a node, or a machine, that does not take part any more. */
  | { do: 'forget' }
  | { do: 'rename'; fact: PeerFact; hostname: string }
  /** The node is to say `wanted`; it says `stale` as well. */
  | { do: 'annotate'; node: Node; wanted: Annotations; stale: string[] }
  | { do: 'ask'; node: string; hostname: string; machine: string }

export type PeeringPlan = (seen: PeeringSeen) => PeeringStep | undefined

/** Decides on the next step; undefined where there is nothing to do now. What is known goes before what could be asked. */
export function peeringPlan(scheme: AnnotationScheme): PeeringPlan {
  const isOwn = ownNames(scheme)
  const annotate = (node: Node, fact: PeerFact | undefined): PeeringStep | undefined => {
    const { annotations = {} } = node.metadata
    const wanted = wantedAnnotations(fact, scheme)
    const stale = Object.keys(annotations).filter((name) => isOwn(name) && wanted[name] === undefined)
    const isSaid = Object.entries(wanted).every(([name, value]) => annotations[name] === value)
    return isSaid && stale.length === 0 ? undefined : { do: 'annotate', node, wanted, stale }
  }

  return ({ node, said, isSelected, fact, isDue }) => {
    const takesPart = node !== undefined && isSelected && said.kind !== 'foreign'
    const isOther = said.kind === 'machine' && fact !== undefined && fact.machine !== said.id
    if (fact && (!takesPart || isOther)) return { do: 'forget' }
    // Until it is known which machine it is, the node may as well be another cloud's.
    if (!node || said.kind !== 'machine') return undefined
    if (!takesPart) return annotate(node, undefined)
    const { name, labels } = node.metadata
    const hostname = labels?.['kubernetes.io/hostname'] ?? name
    if (fact && fact.hostname !== hostname) return { do: 'rename', fact, hostname }
    const untold = fact && annotate(node, fact)
    return untold ?? (isDue ? { do: 'ask', node: name, hostname, machine: said.id } : undefined)
  }
}
