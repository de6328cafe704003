import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { controlPlaneWords } from '../../../controllers/control-plane/control-plane-nodes.ts'
import { type MovableNode, type MoveFacts, planMove, strangerGraceMs } from '../../../controllers/moves/move-plan.ts'
import { noProbes, type ProbeHistory } from '../../../controllers/moves/probe-history.ts'
import { testRows } from '../../drawn-rows.ts'

const answers = (successes: number): ProbeHistory => ({ failures: 0, successes, formerSuccesses: 0, answeredAtMs: 1 })
const failed = (failures: number, formerSuccesses = 50): ProbeHistory => ({
  failures,
  successes: 0,
  formerSuccesses,
  answeredAtMs: 1,
  reason: 'refused',
})
const [well, bad, suspect, unknown] = [answers(50), failed(3), failed(2), noProbes]

const [excluded, cordoned, deleted] = [1, 2, 3]

/** Node `a` runs on machine `A`; the state of each is its probes, or why it leaves. */
function nodesOf(states: Record<string, ProbeHistory | [ProbeHistory, number]>): MovableNode[] {
  return Object.entries(states).map(([name, state]) => {
    const [probes, leaving] = Array.isArray(state) ? state : [state, 0]
    return { name, machine: name.toUpperCase(), leaving, probes }
  })
}

/** The nodes to which machines may deliver the address, wherever it is. */
const published = (states: States, ...names: string[]) => ({
  nodes: nodesOf(states).map((node) => ({ ...node, isPublished: names.includes(node.name) })),
})

type States = Parameters<typeof nodesOf>[0]

const base: MoveFacts = {
  nodes: [],
  assigned: ['A'],
  former: undefined,
  strangerForMs: 0,
  address: undefined,
  rules: { failures: 3, successes: 10 },
  words: controlPlaneWords,
  refused: new Map(),
  pause: () => undefined,
}

/** Node `a` and its copy, both on machine `A`. */
const withCopy = (a: ProbeHistory, copy: ProbeHistory, others: States = {}) => ({
  nodes: [...nodesOf({ a }), ...nodesOf({ a: copy }).map((node) => ({ ...node, name: 'copy' })), ...nodesOf(others)],
})

function decide(states: States, facts: Partial<MoveFacts>): string {
  const decision = planMove({ ...base, nodes: nodesOf(states), ...facts })
  if (decision.do === 'move') return `${decision.reason} -> ${decision.to.name}`
  if (decision.problem === undefined) return decision.do
  return decision.do === 'wait' ? 'problem' : `${decision.do}, reports`
}

/** These machines were refused, the first one is tried again first. */
const refusing = (...machines: string[]) => ({
  refused: new Map(machines.map((machine, n) => [machine, { error: 'another metro', isCertain: true, againInMs: n }])),
})
/** Moves to these machines failed, the first one is tried again first. */
const failing = (...machines: string[]) => ({
  refused: new Map(machines.map((machine, n) => [machine, { error: 'locked', isCertain: false, againInMs: n }])),
})
const mixed = { refused: new Map([...failing('C').refused, ...refusing('B').refused]) }
const pausing = { pause: () => ({ ms: 1, why: 'it has moved often recently' }) }

const rows: [what: string, states: States, facts: Partial<MoveFacts>, decision: string][] = [
  ['all is well', { a: well, b: well, c: well }, {}, 'stay'],
  ['the holder failed twice', { a: suspect, b: well }, {}, 'wait'],
  ['the holder failed three times', { a: bad, b: well, c: well }, {}, 'failed -> b'],
  ['the first candidate is bad too', { a: bad, b: bad, c: well }, {}, 'failed -> c'],
  ['the first candidate is our own node', { a: bad, b: well, c: well }, { own: 'b' }, 'failed -> c'],
  ['the only candidate is our own node', { a: bad, b: well, c: bad }, { own: 'b' }, 'failed -> b'],
  ['another than our own node leaves', { a: bad, b: well, c: [well, cordoned] }, { own: 'b' }, 'failed -> b'],
  ['all are bad', { a: bad, b: bad, c: bad }, {}, 'problem'],
  ['the others are unknown yet', { a: bad, b: unknown }, {}, 'problem'],
  ['the candidate has not answered often enough', { a: bad, b: answers(9) }, {}, 'problem'],
  ['the holder fails for long: fewer answers are enough', { a: failed(5), b: answers(9) }, {}, 'failed -> b'],
  ['the holder fails for very long', { a: failed(60), b: answers(2) }, {}, 'failed -> b'],
  ['a holder that flapped failed three times', { a: failed(3, 9), b: well }, {}, 'wait'],
  ['a holder that had answered just often enough failed three times', { a: failed(3, 10), b: well }, {}, 'failed -> b'],
  ['a holder that flapped failed six times', { a: failed(6, 9), b: well }, {}, 'failed -> b'],
  ['one answer is never enough', { a: failed(60), b: answers(1) }, {}, 'problem'],
  ['there is one control plane', { a: bad }, {}, 'problem'],
  ['a candidate that leaves is the last choice', { a: bad, b: [well, cordoned], c: well }, {}, 'failed -> c'],
  ['a candidate that leaves is better than a dead holder', { a: bad, b: [well, deleted] }, {}, 'failed -> b'],
  ['the provider refused the first candidate', { a: bad, b: well, c: well }, refusing('B'), 'failed -> c'],
  [
    'the provider refused all candidates: the last resort',
    { a: bad, b: well, c: well },
    refusing('C', 'B'),
    'failed -> c',
  ],
  [
    'the provider refused the one that answers well enough',
    { a: bad, b: well, c: answers(9) },
    refusing('B'),
    'failed -> b',
  ],
  ['the previous holder is well again: no move back', { a: well, b: well }, { former: 'B' }, 'stay'],
  [
    'the holder failed and a copy of its Node is well: a move there changes nothing',
    {},
    withCopy(bad, well),
    'problem',
  ],
  ['so it moves to another machine', {}, withCopy(bad, well, { b: well }), 'failed -> b'],
  ['the copy failed', {}, withCopy(well, bad, { b: well }), 'stay'],
  ['moves were many', { a: bad, b: well }, pausing, 'problem'],

  ['the holder is cordoned', { a: [well, cordoned], b: well }, {}, 'leaving -> b'],
  ['the holder is being deleted', { a: [well, deleted], b: well }, {}, 'leaving -> b'],
  ['the holder is excluded by its label', { a: [well, excluded], b: well }, {}, 'leaving -> b'],
  ['all are excluded, as kubeadm once did', { a: [well, excluded], b: [well, excluded] }, {}, 'stay'],
  ['all are excluded, the holder is cordoned', { a: [well, cordoned], b: [well, excluded] }, {}, 'leaving -> b'],
  ['all are cordoned', { a: [well, cordoned], b: [well, cordoned] }, {}, 'stay'],
  ['moves to the first candidate failed', { a: bad, b: well, c: well }, failing('B'), 'failed -> c'],
  ['moves to all candidates failed', { a: bad, b: well, c: well }, failing('C', 'B'), 'failed -> c'],
  ['moves to one failed, one was refused', { a: bad, b: well, c: well }, mixed, 'failed -> c'],
  ['the holder is cordoned, moves to the other failed', { a: [well, cordoned], b: well }, failing('B'), 'leaving -> b'],
  [
    'moves failed to the one that stays',
    { a: bad, b: well, c: [well, cordoned] },
    { ...failing('B'), assigned: [], former: 'B' },
    'unassigned -> b',
  ],
  [
    'a strange machine has it, and moves failed',
    { a: well },
    { assigned: ['X'], strangerForMs: 60_000, ...failing('A') },
    'stranger -> a',
  ],
  ['the holder is cordoned, the other was refused', { a: [well, cordoned], b: well }, refusing('B'), 'stay'],
  ['the holder is cordoned, the other is bad', { a: [well, cordoned], b: bad }, {}, 'stay'],
  ['the holder is cordoned, the other is new', { a: [well, cordoned], b: answers(9) }, {}, 'stay'],
  ['the holder is cordoned and fails', { a: [bad, cordoned], b: [well, cordoned] }, {}, 'failed -> b'],

  ['nobody has it', { a: well, b: well }, { assigned: [] }, 'unassigned -> a'],
  ['nobody has it, and there was a holder', { a: well, b: well }, { assigned: [], former: 'B' }, 'unassigned -> b'],
  ['nobody has it, the previous holder is bad', { a: well, b: bad }, { assigned: [], former: 'B' }, 'unassigned -> a'],
  [
    'nobody has it, the previous holder leaves',
    { a: well, b: [well, cordoned] },
    { assigned: [], former: 'B' },
    'unassigned -> a',
  ],
  ['nobody has it, one answer is enough', { a: answers(1), b: bad }, { assigned: [] }, 'unassigned -> a'],
  ['nobody has it, nobody answers', { a: bad, b: unknown }, { assigned: [] }, 'problem'],
  ['nobody has it: the next try waits', { a: well }, { assigned: [], ...pausing }, 'problem'],
  ['nobody has it, one was refused', { a: well, b: well }, { assigned: [], ...refusing('A') }, 'unassigned -> b'],
  ['nobody has it, all were refused', { a: well, b: well }, { assigned: [], ...refusing('B', 'A') }, 'unassigned -> b'],
  ['nobody has it, the refused one must wait', { a: bad, b: well }, { assigned: [], ...refusing('X', 'B') }, 'problem'],

  ['two have it, both are well', { a: well, b: well }, { assigned: ['B', 'A'] }, 'several -> a'],
  ['two have it, one is well', { a: bad, b: well }, { assigned: ['A', 'B'] }, 'several -> b'],
  ['two have it, a third is well', { a: bad, b: bad, c: well }, { assigned: ['A', 'B'] }, 'several -> c'],
  ['two have it, nobody is well', { a: bad, b: bad }, { assigned: ['A', 'B'] }, 'problem'],

  ['a stranger has it for a moment', { a: well }, { assigned: ['X'] }, 'wait'],
  ['a stranger has it', { a: well }, { assigned: ['X'], strangerForMs: strangerGraceMs }, 'stranger -> a'],
  ['a stranger has it, nobody is well', { a: bad }, { assigned: ['X'], strangerForMs: strangerGraceMs }, 'problem'],

  [
    'the address never answered from here',
    { a: well, b: well },
    { address: { failures: 9, successes: 0, formerSuccesses: 0 } },
    'stay',
  ],
  ['the address answers no more', { a: well, b: well }, { address: failed(3) }, 'unreachable -> b'],
  ['the address failed twice', { a: well, b: well }, { address: failed(2) }, 'wait'],
  ['the address answers no more, nobody else is well', { a: well, b: bad }, { address: failed(3) }, 'problem'],
  [
    'the address answers no more, and so does an API server to which machines deliver it',
    {},
    { address: failed(9), ...published({ a: well, b: well, c: failed(900) }, 'a', 'b', 'c') },
    'problem',
  ],
  [
    'the address has failed so often that an API server which stays bad is not the reason',
    {},
    { address: failed(30), ...published({ a: well, b: well, c: bad }, 'a', 'b', 'c') },
    'unreachable -> b',
  ],
  [
    'the address has failed almost so often',
    {},
    { address: failed(29), ...published({ a: well, b: well, c: bad }, 'a', 'b', 'c') },
    'problem',
  ],
  [
    'the address answers no more, and such an API server has just come back',
    {},
    { address: failed(9), ...published({ a: well, b: well, c: answers(9) }, 'a', 'b', 'c') },
    'problem',
  ],
  [
    'the address answers no more, and such an API server has just gone',
    {},
    { address: failed(9), ...published({ a: well, b: well, c: failed(59) }, 'a', 'b') },
    'problem',
  ],
  [
    'the address answers no more, and an API server no longer exists for long',
    {},
    { address: failed(9), ...published({ a: well, b: well, c: failed(60) }, 'a', 'b') },
    'unreachable -> b',
  ],
  [
    'the address answers no more, and a node has no API server yet',
    {},
    { address: failed(9), ...published({ a: well, b: well, c: unknown }, 'a', 'b') },
    'unreachable -> b',
  ],
  [
    'the address answers no more, another API server fails, and the holder leaves',
    {},
    { address: failed(9), ...published({ a: [well, cordoned], b: well, c: bad }, 'a', 'b', 'c') },
    'leaving -> b',
  ],
  ['the address answers, its holder does not', { a: bad, b: well }, { address: well }, 'failed -> b'],
]

const excluding = { words: { ...controlPlaneWords, excluded } }
rows.push(
  ['a node that no address comes to', { a: bad, b: [well, excluded] }, excluding, 'problem'],
  ['it is refused, and the last one', { a: bad, b: [well, excluded] }, { ...excluding, ...refusing('B') }, 'problem'],
  [
    'two have it, one of them such a node',
    { a: [well, excluded], b: well },
    { ...excluding, assigned: ['A', 'B'] },
    'several -> b',
  ],
  ['the holder is such a node', { a: [well, excluded], b: well }, excluding, 'leaving -> b'],
  ['all are such nodes', { a: [well, excluded], b: [well, excluded] }, excluding, 'stay, reports'],
  ['control-plane nodes all have the label', { a: bad, b: [well, excluded] }, {}, 'failed -> b'],
)

for (const [what, states, facts, decision] of rows)
  test(`${what}: ${decision}`, () => {
    assert.is(decide(states, facts), decision)
  })

const withoutMachine = (name: string) => (node: MovableNode) =>
  node.name === name ? { ...node, machine: undefined } : node

const problems: [what: string, facts: Partial<MoveFacts>, problem: RegExp][] = [
  ['the others are bad', { nodes: nodesOf({ a: bad, b: bad }) }, /; no other control-plane node is healthy$/],
  [
    'no API server answers',
    { nodes: nodesOf({ a: bad }), assigned: [] },
    /no machine, and no control-plane node is healthy$/,
  ],
  [
    'a node is of no machine of our cloud',
    { nodes: nodesOf({ a: bad, b: well }).map(withoutMachine('b')) },
    /; no other control-plane node can take it; b answers, but its spec.providerID does not name a machine of this provider\. /,
  ],
  [
    'all others are excluded',
    { nodes: nodesOf({ a: bad, b: [well, 3], c: [well, 3] }), words: { ...controlPlaneWords, excluded: 3 } },
    /; no other control-plane node can take it; 2 healthy nodes have the label node\.kubernetes\.io\/exclude-from/,
  ],
  [
    'a node is of no machine, and nobody has the address',
    { nodes: nodesOf({ a: bad, b: well }).map(withoutMachine('b')), assigned: [] },
    /^it is assigned to no machine, and no control-plane node can take it; b answers, but its spec.providerID does not name/,
  ],
  [
    'the provider refused the only candidate a moment ago',
    { nodes: nodesOf({ a: bad, b: well }), assigned: [], ...refusing('X', 'B') },
    /^it was assigned to no machine; the provider refused b: another metro; the next move waits \(initially 1 s\)$/,
  ],
  [
    'moves to the only candidate failed',
    {
      nodes: nodesOf({ a: bad, b: well }),
      assigned: [],
      ...failing('A', 'B'),
    },
    /^it was assigned to no machine; the last moves to b failed: locked; the next move waits \(initially 1 s\)$/,
  ],
  [
    'the address answers no more, and the provider refused the other',
    { nodes: nodesOf({ a: well, b: well }), address: failed(3), ...refusing('B') },
    /; no other control-plane node can take it; the provider refused b: another metro$/,
  ],
  [
    'the address answers no more, and another API server may be the reason',
    { ...published({ a: well, b: well, c: bad }, 'a', 'b', 'c'), address: failed(3) },
    /^3 probes of the address itself failed, the last one: refused; perhaps they reached c, which is unhealthy$/,
  ],
  [
    'the last attempt failed',
    { nodes: nodesOf({ a: well }), assigned: [], pause: () => ({ ms: 60_000, why: 'the last attempt failed: 429' }) },
    /^it was assigned to no machine; the last attempt failed: 429; the next move waits \(initially 60 s\)$/,
  ],
]

for (const [what, facts, problem] of problems)
  test(`people learn why nothing moves: ${what}`, () => {
    const decision = planMove({ ...base, ...facts })
    assert.is(decision.do, 'wait')
    assert.match(decision.do === 'wait' ? (decision.problem ?? '') : '', problem)
  })

/** The word of a decision in the table. */
const wordOf = (decision: string) => (decision === 'problem' ? 'report' : (/^[a-z]+/.exec(decision)?.[0] ?? ''))
testRows(
  'controllers/moves/move-plan.ts',
  rows.map(([what, , , decision]) => [what, wordOf(decision)]),
  [
    'nobody has it, and there was a holder',
    'nobody has it, all were refused',
    'nobody has it, nobody answers',
    'two have it, one is well',
    'two have it, nobody is well',
    'a stranger has it',
    'a stranger has it for a moment',
    'the holder failed three times',
    'the provider refused all candidates: the last resort',
    'all are bad',
    'the holder failed twice',
    'the address failed twice',
    'the address answers no more, and such an API server has just gone',
    'the address answers no more',
    'the holder is cordoned',
    'all are such nodes',
    'all is well',
  ],
)

test.run()
