import type { ControlPlaneFacts } from '../../controllers/control-plane/control-plane-guardian.ts'
import { type GuardedNode, controlPlaneWords } from '../../controllers/control-plane/control-plane-nodes.ts'
import type { ProbeHistory } from '../../controllers/moves/probe-history.ts'
import { type Cell, type Section, clear, cut } from '../section.ts'

/** The control-plane address, its holder, and the probes of each API server. */
export function controlPlaneSection(facts: ControlPlaneFacts): Section {
  const { address, name, machines, nodes, readAtMs, isLeader, leader, problem, probes, dateOf } = facts
  const holder = nodes.find(({ machine }) => machine !== undefined && machines.includes(machine))
  const nobody: Cell = { text: 'nobody', tone: readAtMs === undefined ? 'quiet' : 'bad' }
  const ownProbes = probes && probeCells(probes, dateOf)[0]
  return {
    id: 'control-plane',
    title: 'Control-plane address',
    blocks: [
      ...(problem === undefined ? [] : [{ kind: 'notes' as const, notes: [{ tone: 'bad' as const, text: problem }] }]),
      {
        kind: 'tiles',
        tiles: [
          {
            label: name,
            value: address === undefined ? { text: 'not known', tone: 'warn' } : { text: address, code: true },
          },
          { label: 'holder', value: machines.length === 0 ? nobody : { text: holder?.name ?? machines.join(', ') } },
          { label: 'leading guardian', value: isLeader ? { text: 'this one' } : { text: leader ?? 'not known' } },
          { label: 'cloud last read', value: { atMs: readAtMs, text: 'not yet' } },
          ...(ownProbes ? [{ label: 'the address itself', value: ownProbes }] : []),
        ],
      },
      {
        kind: 'table',
        columns: [...clear('node', 'API server', 'probes'), 'last answer'],
        rows: nodes.map((node) => rowOf(node, holder, dateOf)),
        empty: 'No control-plane node is known.',
      },
    ],
  }
}

function rowOf(node: GuardedNode, holder: GuardedNode | undefined, dateOf: (ms: number) => number): Cell[] {
  const { name, endpoint, leaving, probes } = node
  const facts = [node.name === holder?.name ? 'has the address' : '', controlPlaneWords.leaving[leaving]].filter(
    Boolean,
  )
  return [
    { text: name, detail: facts.join(', ') || undefined },
    endpoint ? { text: `${endpoint.address} port ${endpoint.port}`, code: true } : { text: 'no address', tone: 'warn' },
    ...probeCells(probes, dateOf),
  ]
}

function probeCells(
  { failures, successes, answeredAtMs, reason }: ProbeHistory,
  dateOf: (ms: number) => number,
): Cell[] {
  const last: Cell = { text: 'never', ...(answeredAtMs !== undefined && { atMs: dateOf(answeredAtMs) }) }
  if (failures > 0) return [{ text: `${failures} failed`, tone: 'bad', detail: cut(reason ?? 'no answer', 200) }, last]
  if (successes > 0) return [{ text: 'answers', tone: 'good' }, last]
  return [{ text: 'not probed yet', tone: 'quiet' }, last]
}
