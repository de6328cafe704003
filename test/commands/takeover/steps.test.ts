import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Missing, runSteps } from '../../../commands/takeover/steps.ts'
import { fakeClock } from '../../kube/fake-clock.ts'

const patienceMs = 60_000

/** Runs one step that only waits; `missingAt` says what is left after so much time. Resolves with the end of the run. */
async function wait(missingAt: (ms: number) => Missing | undefined): Promise<{ end: string; ms: number }> {
  const clock = fakeClock()
  const startMs = clock.now()
  const passedMs = () => clock.now() - startMs
  const step = { name: 'wait', title: 'Wait', missing: async () => missingAt(passedMs()) }
  const ends: string[] = []
  void runSteps([step], {
    record: async () => {},
    check: async () => {},
    tell: () => {},
    signal: new AbortController().signal,
    clock,
    patienceMs,
  }).then(
    () => ends.push('done'),
    (error: Error) => ends.push(error.message),
  )
  while (ends.length === 0) await clock.pass(500)
  return { end: ends.join(), ms: passedMs() }
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

test.run()
