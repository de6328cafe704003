import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { controlPlaneWords as words } from '../../../controllers/control-plane/control-plane-nodes.ts'
import { keeper } from '../../../controllers/moves/keeper.ts'
import { strangerGraceMs } from '../../../controllers/moves/move-plan.ts'
import { noProbes } from '../../../controllers/moves/probe-history.ts'
import { fakeClock } from '../../kube/fake-clock.ts'
import { silentLog } from '../../fakes/log.ts'

/** A keeper, and its decision about an address that is assigned to this machine, while one node is healthy. */
function makeKeeper() {
  const clock = fakeClock()
  const assign = () => Promise.resolve()
  const moves = { what: 'it', assign, cooldownMs: 1_000, clock, log: silentLog }
  const kept = keeper({ ...moves, rules: { failures: 3, successes: 10 }, words })
  const nodes = [{ name: 'b', machine: 'B', leaving: 0, probes: { ...noProbes, successes: 10 } }]
  const decide = (machine: string) => kept.decide({ nodes, assigned: [machine], address: undefined, own: undefined }).do
  return { clock, kept, decide }
}

test('each machine that is no node of the cluster keeps the address for the grace period', async () => {
  const { clock, decide } = makeKeeper()
  assert.is(decide('X'), 'wait')
  await clock.pass(strangerGraceMs - 1)
  assert.equal([decide('X'), decide('Y')], ['wait', 'wait'])
  await clock.pass(strangerGraceMs - 1)
  assert.is(decide('Y'), 'wait')
  await clock.pass(1)
  assert.is(decide('Y'), 'move')
})

test('in another term, a machine that is no node of the cluster keeps the address for the grace period again', async () => {
  const { clock, kept, decide } = makeKeeper()
  decide('X')
  await clock.pass(strangerGraceMs)
  assert.is(decide('X'), 'move')
  kept.forget()
  assert.is(decide('X'), 'wait')
})

test.run()
