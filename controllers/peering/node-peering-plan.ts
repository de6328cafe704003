// The next step until a node speaks BGP and its annotations name its peers. The first row that applies decides.
//
//   what we know of the node             | and                                            | step
//   -------------------------------------+------------------------------------------------+----------
//   a fact about it                      | it was deleted, is not selected, or is foreign | forget
//   a fact about another machine         |                                                | forget
//   not which machine it is              |                                                | -
//   it is not selected, or foreign       | it has annotations of ours                     | annotate
//   a fact with another hostname         |                                                | rename
//   a fact                               | its annotations differ from the fact           | annotate
//   no fact, or one that is due          |                                                | ask
//   otherwise                            |                                                | -
import type { Node } from '../../kube/objects.ts'
import type { ProviderId } from '../nodes/provider-id.ts'
import { type Annotations, ownNames, wantedAnnotations } from './node-annotations.ts'
import type { PeerFact } from '../facts/fact-text.ts'
import type { AnnotationScheme } from '../../clouds/ports/peering.ts'

export type PeeringSeen = {
  node: Node | undefined
  providerId: ProviderId
  isSelected: boolean
  fact: PeerFact | undefined
  /** Whether it is time to ask the provider again. */
  isDue: boolean
}

export type PeeringStep =
  /** Removes a fact about a node or a machine that no longer takes part. */
  | { do: 'forget' }
  | { do: 'rename'; fact: PeerFact; hostname: string }
  /** Writes the `wanted` annotations and removes the `stale` ones. */
  | { do: 'annotate'; node: Node; wanted: Annotations; stale: string[] }
  /** Asks the provider for the peers of the machine. */
  | { do: 'ask'; node: string; hostname: string; machine: string }

export type PeeringPlan = (seen: PeeringSeen) => PeeringStep | undefined

/** Makes the plan for one node; undefined if nothing is left to do. Known facts are written before newer ones are read. */
export function peeringPlan(scheme: AnnotationScheme): PeeringPlan {
  const isOwn = ownNames(scheme)
  const annotate = (node: Node, fact: PeerFact | undefined): PeeringStep | undefined => {
    const { annotations = {} } = node.metadata
    const wanted = wantedAnnotations(fact, scheme)
    const stale = Object.keys(annotations).filter((name) => isOwn(name) && wanted[name] === undefined)
    const isWritten = Object.entries(wanted).every(([name, value]) => annotations[name] === value)
    return isWritten && stale.length === 0 ? undefined : { do: 'annotate', node, wanted, stale }
  }

  return ({ node, providerId, isSelected, fact, isDue }) => {
    const takesPart = node !== undefined && isSelected && providerId.kind !== 'foreign'
    const isOther = providerId.kind === 'machine' && fact !== undefined && fact.machine !== providerId.id
    if (fact && (!takesPart || isOther)) return { do: 'forget' }
    // Until its machine is known, the node may belong to another provider.
    if (!node || providerId.kind !== 'machine') return undefined
    if (!takesPart) return annotate(node, undefined)
    const { name, labels } = node.metadata
    const hostname = labels?.['kubernetes.io/hostname'] ?? name
    if (fact && fact.hostname !== hostname) return { do: 'rename', fact, hostname }
    const annotation = fact && annotate(node, fact)
    return annotation ?? (isDue ? { do: 'ask', node: name, hostname, machine: providerId.id } : undefined)
  }
}
