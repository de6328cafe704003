import type { Peer } from '../../announcers/announcer.ts'
import type { Machine, ProviderIds } from '../../clouds/ports/machines.ts'
import { readProviderId } from '../../controllers/nodes/provider-id.ts'
import { isReady } from '../../controllers/nodes/taints.ts'
import type { Node } from '../../kube/objects.ts'
import { type Cell, type Section, clear, firstRows } from '../section.ts'

export type NodeFacts = {
  nodes: readonly Node[]
  ids: ProviderIds
  /** The machines of the last list; undefined before the first. */
  machines: readonly Machine[] | undefined
  /** The peers of a node; undefined if none are known. They hold passwords, which the page never reads. */
  peers: (node: string) => readonly Pick<Peer, 'peerAddress' | 'peerAsn'>[] | undefined
  usesBgp: boolean
  /** Only the leader knows machines and peers. */
  isLeader: boolean
}

const zoneLabel = 'topology.kubernetes.io/zone'
const regionLabel = 'topology.kubernetes.io/region'

/** The nodes with their machines and peers, unready nodes first. */
export function nodesSection(facts: NodeFacts): Section {
  const machines = new Map(facts.machines?.map((machine) => [machine.id, machine]))
  const order = facts.nodes.toSorted(
    (one, other) => Number(isReady(one)) - Number(isReady(other)) || (one.metadata.name < other.metadata.name ? -1 : 1),
  )
  const { shown, rest } = firstRows(order, 'kubectl get nodes -o wide')
  return {
    id: 'nodes',
    title: 'Nodes',
    blocks: [
      {
        kind: 'table',
        columns: [...clear('node', 'state', 'machine', 'place'), ...(facts.usesBgp ? ['peers'] : [])],
        rows: shown.map((node) => rowOf(node, facts, machines)),
        empty: 'No node is known. Only a process that runs controllers reads them.',
        rest,
      },
    ],
  }
}

function rowOf(node: Node, facts: NodeFacts, machines: ReadonlyMap<string, Machine>): Cell[] {
  const { labels = {} } = node.metadata
  const isCordoned = node.spec.unschedulable === true
  const state: Cell = isReady(node) ? { text: 'ready', tone: 'good' } : { text: 'not ready', tone: 'bad' }
  return [
    { text: node.metadata.name },
    { ...state, detail: isCordoned ? 'cordoned' : undefined },
    machineCell(node, facts, machines),
    { text: labels[zoneLabel] ?? labels[regionLabel] ?? '' },
    ...(facts.usesBgp ? [peersCell(node.metadata.name, facts)] : []),
  ]
}

function machineCell(node: Node, { ids }: NodeFacts, machines: ReadonlyMap<string, Machine>): Cell {
  const read = readProviderId(node.spec.providerID, ids)
  switch (read.kind) {
    case 'machine': {
      const machine = machines.get(read.id)
      return { text: read.id, code: true, detail: machine?.type }
    }
    case 'absent':
      return { text: 'not found yet', tone: 'warn' }
    case 'foreign':
      return { text: 'of another cloud', tone: 'quiet' }
    case 'invalid':
      return { text: 'invalid providerID', tone: 'bad' }
  }
}

function peersCell(node: string, { peers, isLeader }: NodeFacts): Cell {
  const known = peers(node)
  if (known === undefined) return { text: isLeader ? 'none known' : 'known to the leader', tone: 'quiet' }
  const detail = known.map(({ peerAddress, peerAsn }) => `${peerAddress} (AS ${peerAsn})`).join(', ')
  return { text: String(known.length), tone: known.length === 0 ? 'quiet' : 'good', detail }
}
