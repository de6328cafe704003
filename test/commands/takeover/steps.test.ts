import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Missing, type TakeoverStep, runSteps } from '../../../commands/takeover/steps.ts'
import { type FakeClock, fakeClock } from '../../kube/fake-clock.ts'

const patienceMs = 60_000

/** Runs steps on a clock that goes on until it ends. Resolves with the end of the run, and what it said. */
async function endOf(
  steps: TakeoverStep[],
  clock: FakeClock,
  check = async () => {},
): Promise<{ end: string; said: string[] }> {
  const ends: string[] = []
  const said: string[] = []
  void runSteps(steps, {
    record: async () => {},
    check,
    tell: (line) => void said.push(line),
    signal: new AbortController().signal,
    clock,
    patienceMs,
  }).then(
    () => ends.push('done'),
    (error: Error) => ends.push(error.message),
  )
  while (ends.length === 0) await clock.pass(500)
  return { end: ends.join(), said }
}

/** Runs one step that only waits; `missingAt` says what is left after so much time. */
async function wait(missingAt: (ms: number) => Missing | undefined): Promise<{ end: string; ms: number }> {
  const clock = fakeClock()
  const startMs = clock.now()
  const passedMs = () => clock.now() - startMs
  const step = { title: 'Wait', missing: async () => missingAt(passedMs()) }
  const { end } = await endOf([step], clock)
  return { end, ms: passedMs() }
}

test('a step whose missing part changes is waited for, however long it takes in all', async () => {
  const leftAt = (ms: number) => ({ text: `${10 - Math.floor(ms / 50_000)} pods left` })
  assert.is((await wait((ms) => (ms < 500_000 ? leftAt(ms) : undefined))).end, 'done')
})

test('a step that makes no progress ends the run when the patience is over', async () => {
  const { end, ms } = await wait(() => ({ text: '1 pod left' }))
  assert.match(end, '1 pod left')
  assert.ok(ms >= patienceMs && ms < patienceMs + 5_000, String(ms))
})

test('progress renews the patience, and what follows it without progress ends the run', async () => {
  const { end, ms } = await wait((passed) => ({ text: passed < 50_000 ? '2 pods left' : '1 pod left' }))
  assert.match(end, '1 pod left')
  assert.ok(ms >= 50_000 + patienceMs, String(ms))
})

test('a program that comes back while the last step looks for the last time is stopped again, and the run says who started it', async () => {
  const clock = fakeClock()
  const startMs = clock.now()
  let isRunning = true
  const stop: TakeoverStep = {
    title: 'Stop it',
    missing: async () => (isRunning ? { text: '1 pod left' } : undefined),
    act: async () => void (isRunning = false),
    returned: async () => (isRunning ? 'Deployment theirs was started again by kubectl' : undefined),
  }
  let isBack = false
  const verify: TakeoverStep = {
    title: 'Verify',
    async missing() {
      // By then the run has waited long enough to see whether it comes back.
      if (clock.now() - startMs < 20_000) return { text: 'verifying' }
      if (!isBack) isRunning = isBack = true
      return undefined
    },
  }
  const { end, said } = await endOf([stop, verify], clock)
  assert.match(end, 'Deployment theirs was started again by kubectl, and is stopped again')
  assert.is(isBack, true)
  assert.is(isRunning, false, said.join('\n'))
})

test('a pod that appears after its program was stopped keeps the next step from acting until it is gone', async () => {
  const clock = fakeClock()
  const startMs = clock.now()
  // A controller creates it from a spec that it read before the stop.
  const hasPod = () => clock.now() - startMs > 2_000 && clock.now() - startMs < 10_000
  const stop: TakeoverStep = {
    title: 'Stop it',
    missing: async () => (hasPod() ? { text: '1 pod left' } : undefined),
    returned: async () => undefined,
  }
  const actedAtMs: number[] = []
  const lead: TakeoverStep = {
    title: 'Lead',
    missing: async () => (clock.now() - startMs < 12_000 ? { text: 'not leading yet' } : undefined),
    act: async () => void actedAtMs.push(clock.now() - startMs),
  }
  const { end, said } = await endOf([stop, lead], clock)
  assert.is(end, 'done')
  assert.ok(said.some((line) => line.includes('1 pod left')))
  assert.ok(actedAtMs.length > 0 && actedAtMs.every((ms) => ms <= 2_000 || ms >= 10_000), actedAtMs.join())
})

test('a step that only waits learns at its next look that another run took over', async () => {
  const clock = fakeClock()
  const startMs = clock.now()
  const check = async () => {
    if (clock.now() - startMs > 5_000) throw new Error('another run took over')
  }
  const { end } = await endOf([{ title: 'Wait', missing: async () => ({ text: 'verifying' }) }], clock, check)
  assert.is(end, 'another run took over')
  assert.ok(clock.now() - startMs < 7_000)
})

test.run()
