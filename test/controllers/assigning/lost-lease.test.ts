import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError } from '../../../clouds/ports/cloud.ts'
import { world } from './world.ts'

/** A run that loses its lease between the two calls of a write. Returns whether each of the calls was still allowed. */
async function loseLease(of: ReturnType<typeof world>, firstCall: () => void): Promise<boolean[]> {
  const leads = new AbortController()
  const allowed: boolean[] = []
  of.fail((secondCall, mayWrite) => {
    allowed.push(mayWrite())
    firstCall()
    leads.abort()
    allowed.push(mayWrite())
    if (!allowed.at(-1)) throw new CloudError('not ended', { fault: 'unavailable', outcome: 'unknown' })
    secondCall()
  })
  await of.reconcile('203.0.113.1', leads.signal).catch(() => undefined)
  return allowed
}

test('a leader that loses its lease within a move leaves the rest to the next leader', async () => {
  const of = world()
  await of.run()
  of.failed.add('a')
  const allowed = await loseLease(of, () => of.set('id-203.0.113.1', []))
  assert.equal([allowed, of.at(), of.writes.length], [[true, false], '', 2])
})

test('a leader that loses its lease takes no address from where the next leader has moved it', async () => {
  const of = world()
  await of.run()
  of.shown.clear()
  of.releasing.add('203.0.113.1')
  const allowed = await loseLease(of, () => of.set('id-203.0.113.1', ['B']))
  assert.equal([allowed, of.at(), of.writes.length], [[true, false], 'B', 2])
})

test.run()
