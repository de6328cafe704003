import type { NodePeers } from '../../../announcers/announcer.ts'
import { ownNames, wantedAnnotations } from '../../../controllers/peering/node-annotations.ts'
import { machineIdOf } from '../../../controllers/nodes/node-machine.ts'
import type { Node } from '../../../kube/objects.ts'
import { matchesRequirements } from '../../../lib/label-selector.ts'
import type { Context, Values } from '../../../inspect/facts.ts'
import { type PlanFinding, type PlannedNode, warning } from './plan.ts'

export type NodesPlan = { nodes: PlannedNode[]; peers: NodePeers[]; findings: PlanFinding[] }

type NodeFacts = Pick<Values, 'nodes' | 'machines' | 'peers'>

/** Plans the changes of nodes: only annotations about BGP peers that are missing or wrong. Pure. */
export function planNodes({ nodes, machines, peers }: NodeFacts, { vendor }: Context): NodesPlan {
  const { isOn, annotations: scheme, selector } = vendor.bgp
  const isOwn = ownNames(scheme)
  const seen = nodes.map((node) => {
    const machine = machineIdOf(node, vendor.providerIds)
    const takesPart = isOn && machine !== undefined && matchesRequirements(node.metadata.labels, selector)
    return { node, machine, known: takesPart ? peers.get(machine) : undefined, takesPart }
  })
  const planned = seen.map(({ node, machine, known }): PlannedNode => {
    // Until its peers are known, a node keeps what it has.
    if (!known || known.length === 0 || machine === undefined) return unchanged(node)
    const privateNetwork = machines.find(({ id }) => id === machine)?.privateNetwork
    const fact = { ...nodePeers(node, known), machine, privateNetwork }
    const { written, removed } = changedNames(node, wantedAnnotations(fact, scheme), isOwn)
    if (written.length + removed.length === 0) return unchanged(node)
    return { name: node.metadata.name, change: 'annotations', annotations: written, removed }
  })
  return {
    nodes: planned,
    peers: seen.flatMap(({ node, known }) => (known && known.length > 0 ? [nodePeers(node, known)] : [])),
    findings: seen
      .filter(({ takesPart, known }) => takesPart && known?.length === 0)
      .map(({ node }) => withoutPeers(node)),
  }
}

function unchanged({ metadata: { name } }: Node): PlannedNode {
  return { name, change: 'none', annotations: [], removed: [] }
}

function nodePeers({ metadata }: Node, peers: NodePeers['peers']): NodePeers {
  const { name, labels = {} } = metadata
  return { node: name, hostname: labels['kubernetes.io/hostname'] ?? name, peers }
}

/** The names of annotations that would be written or removed. Their values may hold a password. */
function changedNames(
  { metadata: { annotations = {} } }: Node,
  wanted: Record<string, string>,
  isOwn: (name: string) => boolean,
): { written: string[]; removed: string[] } {
  const written = Object.keys(wanted).filter((name) => annotations[name] !== wanted[name])
  const removed = Object.keys(annotations).filter((name) => isOwn(name) && wanted[name] === undefined)
  return { written: written.toSorted(), removed: removed.toSorted() }
}

function withoutPeers({ metadata: { name } }: Node): PlanFinding {
  return warning('node-without-peers', `node ${name}`, {
    what: 'the provider has no BGP peers for its machine; `serve` turns BGP on there, as the predecessor would',
    remedy: 'nothing; or exclude the node by --bgp-node-selector',
  })
}
