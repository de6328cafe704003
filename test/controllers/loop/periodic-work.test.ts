import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { periodicKey, periodicWork } from '../../../controllers/loop/controller.ts'

const { signal } = new AbortController()

test('work is declared with one key, and is due again after its interval', async () => {
  const signals: AbortSignal[] = []
  const run = async (given: AbortSignal) => void signals.push(given)
  const { reconciler, keys, resyncMs } = periodicWork({ name: 'sweep', run, everyMs: 60_000 })
  assert.equal([reconciler.name, [...keys()], resyncMs], ['sweep', [periodicKey], 60_000])
  assert.equal(await reconciler.reconcile(periodicKey, signal), {})
  assert.equal(signals, [signal])
})

test('a run may be due sooner than after its interval', async () => {
  const { reconciler } = periodicWork({ name: 'sweep', run: async () => 0, everyMs: 60_000 })
  assert.equal(await reconciler.reconcile(periodicKey, signal), { againInMs: 0 })
})

test('a failure is thrown, so that the loop retries', async () => {
  const run = async () => {
    throw new Error('no answer')
  }
  const { reconciler } = periodicWork({ name: 'sweep', run, everyMs: 60_000 })
  const error: unknown = await reconciler.reconcile(periodicKey, signal).catch((reason: unknown) => reason)
  assert.is(error instanceof Error && error.message, 'no answer')
})

test.run()
