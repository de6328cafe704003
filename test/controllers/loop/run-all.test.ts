import { once } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ControllerDeclaration, defineController, runAll } from '../../../controllers/loop/controller.ts'
import { silentLog } from '../../fakes/log.ts'
import { noObserver } from '../../fakes/observer.ts'

type Reconcile = ControllerDeclaration['reconciler']['reconcile']

/** A controller of one key, whose reconcile does what the test says. */
const makeController = (reconcile: Reconcile, more: Partial<ControllerDeclaration> = {}) =>
  defineController(
    { reconciler: { name: 'test', reconcile }, keys: () => ['a'], ...more },
    { log: silentLog, observer: noObserver },
  )

/** A cache whose first list never comes. */
const neverSynced = {
  async synced(signal?: AbortSignal) {
    if (signal) await once(new EventTarget(), 'done', { signal })
  },
}

const waiting = () => makeController(async () => ({}), { needs: [neverSynced] })

/** A controller whose first reconcile goes on after an abort, and whose later ones are due again at once. */
function makeBusy() {
  const [began, write, again] = [0, 1, 2].map(() => Promise.withResolvers<void>())
  const seen: string[] = []
  const busy = makeController(async () => {
    seen.push('began')
    if (seen.length > 1) {
      if (seen.filter((one) => one === 'began').length > 2) again?.resolve()
      return { againInMs: 1 }
    }
    began?.resolve()
    await write?.promise
    seen.push('written')
    return {}
  })
  return { busy, seen, began: began?.promise, write: () => write?.resolve(), again: again?.promise }
}

test('all parts have ended when a run ends, even if one still waited for a cache', async () => {
  const { busy, seen, began, write, again } = makeBusy()
  const first = new AbortController()
  const ended = runAll([waiting(), busy], first.signal).then(
    () => seen.push('ended'),
    () => seen.push('ended'),
  )
  await began
  first.abort()
  setImmediate(write)
  await ended
  assert.equal(seen, ['began', 'written', 'ended'])
  const second = new AbortController()
  const running = runAll([busy], second.signal)
  // A queue that an earlier run stops would drop this.
  await again
  second.abort()
  await running
})

test('a failure ends the others, and the run fails with it', async () => {
  const failed = makeController(async () => ({}), { prepare: () => Promise.reject(new Error('no credentials')) })
  const order: string[] = []
  const other = {
    async run(signal: AbortSignal) {
      await once(signal, 'abort')
      order.push('other')
    },
  }
  const run = runAll([waiting(), failed, other], new AbortController().signal)
  assert.match(String(await run.catch((error: unknown) => error)), /no credentials/)
  assert.equal(order, ['other'])
})

test.run()
