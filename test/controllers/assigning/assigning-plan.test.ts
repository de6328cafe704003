// The table of assigning-plan.ts.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type SeenAddress, planAssigning } from '../../../controllers/assigning/assigning-plan.ts'
import { noProbes } from '../../../controllers/moves/probe-history.ts'
import { testRows } from '../../drawn-rows.ts'

const at = (...machines: string[]) => ({ id: 'r1', address: '203.0.113.1', machines, tags: [], marks: {} })
const to = { name: 'b', machine: 'B', leaving: 0, probes: noProbes }
const move = { do: 'move', to, reason: 'failed', why: 'it failed' } as const
const shown: SeenAddress = {
  services: ['default/web'],
  id: 'r1',
  assigned: at('A'),
  foreign: undefined,
  isKnown: true,
  isLeaving: false,
  pacedMs: 0,
  awaitsEndpointsMs: 0,
  halt: undefined,
  decision: { do: 'stay' },
}
const freed = { services: [], isLeaving: true, decision: undefined }

const rows: [what: string, seen: Partial<SeenAddress>, plan: string][] = [
  ['has no reservation of ours', { id: undefined, decision: move }, 'problem'],
  ['has no reservation of ours, and no Service shows it', { id: undefined, ...freed }, '-'],
  ['no longer exists at the provider', { assigned: undefined, decision: move }, '-'],
  ['is foreign by now', { assigned: undefined, foreign: 'it is theirs', decision: move }, 'problem'],
  ['is foreign by now, and no Service shows it', { assigned: undefined, foreign: 'it is theirs', ...freed }, '-'],
  ['is not known for certain', { isKnown: false, decision: move }, 'again in 1000 ms'],
  ['is to be moved, and a person must come', { decision: move, halt: { problem: 'two' } }, 'problem again in 10000 ms'],
  ['is to be moved, and the leader has not looked yet', { decision: move, halt: {} }, 'again in 200 ms'],
  ['is to be freed, and the leader has not looked yet', { ...freed, halt: {} }, 'again in 200 ms'],
  ['stays, whatever halts moves', { halt: { problem: 'two' } }, '-'],
  ['is to be freed', freed, 'unassign A'],
  ['is to be freed, and no machine has it', { ...freed, assigned: at() }, '-'],
  ['was taken from machines often', { ...freed, pacedMs: 42_000 }, 'again in 42000 ms'],
  ['is shown by no Service, and nobody frees it', { ...freed, isLeaving: false }, '-'],
  ['waits for its first endpoint', { assigned: at(), decision: move, awaitsEndpointsMs: 700 }, 'again in 700 ms'],
  ['is somewhere already, and lacks endpoints', { decision: move, awaitsEndpointsMs: 700 }, 'move B'],
  ['is to be moved', { decision: move }, 'move B'],
  ['must wait', { decision: { do: 'wait', problem: 'no node' } }, 'problem again in 1000 ms'],
  ['stays', {}, '-'],
]
for (const [what, seen, expected] of rows)
  test(`an address that ${what}: ${expected}`, () => {
    const { step, problem, againInMs } = planAssigning({ ...shown, ...seen })
    const parts = [
      step ? `${step.do} ${step.machine}` : '',
      problem === undefined ? '' : 'problem',
      againInMs === undefined ? '' : `again in ${againInMs} ms`,
    ]
    assert.is(parts.filter((part) => part !== '').join(' ') || '-', expected)
  })

/** The words of a plan in the table. */
const words = { again: 'looks again|waits', problem: 'says' } as Record<string, string>
const wordOf = (plan: string) => words[plan.split(' ')[0] ?? ''] ?? plan.split(' ')[0] ?? ''
testRows(
  'controllers/assigning/assigning-plan.ts',
  rows.map(([what, , plan]) => [what, wordOf(plan)]),
  [
    'has no reservation of ours',
    'no longer exists at the provider',
    'is foreign by now',
    'is not known for certain',
    'is to be moved, and the leader has not looked yet',
    'was taken from machines often',
    'is to be freed',
    'is shown by no Service, and nobody frees it',
    'waits for its first endpoint',
    'is to be moved',
  ],
)

test.run()
