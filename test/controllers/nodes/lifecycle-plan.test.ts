// The table above the plan, row by row.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Machine } from '../../../clouds/ports/machines.ts'
import {
  type LifecycleStep,
  type MissingMachine,
  type Removal,
  planMissing,
  planPresent,
  reasonToKeep,
} from '../../../controllers/nodes/lifecycle-plan.ts'
import { shutdownTaints } from '../../../controllers/nodes/taints.ts'
import { ids, makeMachine, makeNode } from './builders.ts'

const node = makeNode({ name: 'a', providerID: 'equinixmetal://m-1', ready: 'Unknown' })
const off = { ...node, spec: { ...node.spec, taints: shutdownTaints(node, true) } }

const present: [state: Machine['state'], of: typeof node, step: LifecycleStep | undefined][] = [
  ['off', node, { do: 'taint', isOff: true }],
  ['off', off, undefined],
  ['on', off, { do: 'taint', isOff: false }],
  ['on', node, undefined],
  ['unknown', node, undefined],
  ['unknown', off, undefined],
]
for (const [state, of, step] of present)
  test(`a machine that is ${state}, of a node ${of === off ? 'with' : 'without'} the shutdown taint`, () => {
    assert.equal(planPresent(of, makeMachine({ id: 'm-1', state })), step)
  })

const other = makeNode({ name: 'b', providerID: 'equinixmetal://m-2' })
const missing = (facts: Partial<MissingMachine> = {}) =>
  reasonToKeep({
    node,
    id: 'm-1',
    ids,
    nodes: [node, other],
    machines: [makeMachine({ id: 'm-2', name: 'b' })],
    ...facts,
  })

test('a node is kept if the answer of the provider proves nothing', () => {
  assert.match(missing({ machines: [] }) ?? '', 'lists no machine at all')
  assert.match(missing({ machines: [makeMachine({ id: 'm-9' })] }) ?? '', 'none of the machines whose nodes are ready')
  const replaced = [makeMachine({ id: 'm-2', name: 'b' }), makeMachine({ id: 'm-3', name: 'a' })]
  assert.match(missing({ machines: replaced }) ?? '', 'm-3')
  assert.is(missing(), undefined)
  assert.is(missing({ nodes: [node], machines: [makeMachine({ id: 'm-9' })] }), undefined, 'no node is ready')
})

const removal = (facts: Partial<Removal> = {}): LifecycleStep =>
  planMissing({
    node,
    id: 'm-1',
    goneForMs: 30_000,
    graceMs: 30_000,
    mode: 'delete',
    limit: { canRemove: () => true, total: () => 1 },
    ...facts,
  })

test('a node without a machine is deleted after the grace period, within the limit', () => {
  assert.equal(removal({ goneForMs: 29_000 }), { do: 'wait', ms: 1_000 })
  const reported = removal({ mode: 'report' })
  assert.match(reported.do === 'keep' ? reported.reason : '', '--node-removal=report')
  const limited = removal({ limit: { canRemove: () => false, total: () => 7 } })
  assert.match(limited.do === 'keep' ? limited.reason : '', '7 nodes would be deleted within ten minutes')
  assert.equal(removal(), { do: 'remove' })
})

test('only a node that is due asks the limit, which remembers a refusal', () => {
  const limit = {
    canRemove: () => assert.unreachable(),
    total: () => 0,
  } as unknown as Removal['limit']
  removal({ goneForMs: 0, limit })
  removal({ mode: 'report', limit })
})

test.run()
