import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Unsettled, type Plan, keepKeys, runSteps } from '../../../controllers/loop/reconciler.ts'

const { signal } = new AbortController()

type Step = { do: 'raise' | 'wait' }

/** A counter that is settled at `wanted`. */
function makeCounter(wanted: number, plan: (count: number) => Plan<Step> = () => ({ step: { do: 'raise' } })) {
  const state = { count: 0 }
  const run = (maxSteps: number, settled?: () => Promise<{ againInMs: number }>, nameOf?: () => string) =>
    runSteps(
      {
        look: () => state.count,
        plan: (count) => (count === wanted ? { againInMs: 7 } : plan(count)),
        carryOut: async (step: Step) => {
          if (step.do === 'wait') return { againInMs: 500 }
          state.count += 1
          return undefined
        },
        ...(settled && { settled }),
        ...(nameOf && { nameOf }),
        maxSteps,
      },
      signal,
    )
  return { state, run }
}

test('steps follow each other, each after a new look, until the plan has none', async () => {
  const { state, run } = makeCounter(3)
  assert.equal([await run(10), state.count], [{ againInMs: 7, steps: ['raise', 'raise', 'raise'] }, 3])
})

test('a settled key may need a last check', async () => {
  const { run } = makeCounter(0)
  assert.equal(await run(10, async () => ({ againInMs: 60_000 })), { againInMs: 60_000 })
})

test('a step may have a name that distinguishes it from others of its kind', async () => {
  const { state, run } = makeCounter(2)
  const outcome = await run(10, undefined, () => `raise from ${state.count - 1}`)
  assert.equal(outcome.steps, ['raise from 0', 'raise from 1'])
})

test('a step with an outcome ends the run', async () => {
  const { state, run } = makeCounter(9, (count) => ({ step: { do: count === 1 ? 'wait' : 'raise' } }))
  assert.equal([await run(10), state.count], [{ againInMs: 500, steps: ['raise'] }, 1])
})

test('the steps before a wait count too, and those that its outcome names', async () => {
  const carryOut = async ({ do: name }: { do: string }) => (name === 'end' ? { steps: ['end'] } : undefined)
  let looks = 0
  const plan = (look: number) => ({ step: { do: look === 2 ? 'end' : 'raise' } })
  assert.equal(await runSteps({ look: () => (looks += 1), plan, carryOut, maxSteps: 3 }, signal), {
    steps: ['raise', 'end'],
  })
})

test('a run that is not settled after its last step is an error that names the last steps', async () => {
  const { state, run } = makeCounter(Infinity)
  const error = await run(4).catch((reason: unknown) => reason)
  assert.instance(error, Unsettled)
  assert.match(String(error), /still not settled after 4 steps, the last of which were raise and raise/)
  assert.is(state.count, 4)
})

test('a new term forgets the keys that no longer exist, and remembers the others', () => {
  const memory = new Map([
    ['kept', 1],
    ['gone', 2],
  ])
  keepKeys(memory, new Set(['kept', 'new']))
  assert.equal([...memory], [['kept', 1]])
})

test.run()
