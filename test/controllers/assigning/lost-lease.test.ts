// The two calls of a write, and a leader that stops or loses its lease between them.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError } from '../../../clouds/ports/cloud.ts'
import { world } from './world.ts'

type Between = { of: ReturnType<typeof world>; firstCall: () => void; isLost: boolean }

/** A run that is ended between the two calls of a write. Returns whether each of the calls was allowed. */
async function endBetween({ of, firstCall, isLost }: Between): Promise<boolean[]> {
  const leads = new AbortController()
  const allowed: boolean[] = []
  of.fail((secondCall, mayWrite) => {
    allowed.push(mayWrite())
    firstCall()
    if (isLost) of.loseLease()
    leads.abort()
    allowed.push(mayWrite())
    if (!allowed.at(-1)) throw new CloudError('not ended', { fault: 'unavailable', outcome: 'unknown' })
    secondCall()
  })
  await of.reconcile('203.0.113.1', leads.signal).catch(() => undefined)
  return allowed
}

for (const [what, isLost, place] of [
  ['loses its lease within a move leaves the rest to the next leader', true, ''],
  ['stops within a move ends it', false, 'B'],
] as const)
  test(`a leader that ${what}`, async () => {
    const of = world()
    await of.run()
    of.failed.add('a')
    const allowed = await endBetween({ of, firstCall: () => of.set('id-203.0.113.1', []), isLost })
    assert.equal([allowed, of.at(), of.writes.length], [[true, !isLost], place, 2])
  })

test('a leader that loses its lease takes no address from where the next leader has moved it', async () => {
  const of = world()
  await of.run()
  of.shown.clear()
  of.releasing.add('203.0.113.1')
  const allowed = await endBetween({ of, firstCall: () => of.set('id-203.0.113.1', ['B']), isLost: true })
  assert.equal([allowed, of.at(), of.writes.length], [[true, false], 'B', 2])
})

test('writes that a lost lease keeps back do not count for the pace at which addresses leave their machines', async () => {
  const { run, at, shown, free, clock, writes, loseLease, leadAgain } = world()
  await run()
  shown.clear()
  loseLease()
  for (let seconds = 0; seconds < 20; seconds += 1) {
    await clock.pass(1_000)
    free('203.0.113.1')
    await run().catch(() => undefined)
  }
  assert.equal([at(), writes.length], ['A', 1])
  leadAgain()
  assert.equal(free('203.0.113.1'), { services: [] }, 'it does not wait')
  await run()
  assert.is(at(), '')
})

test('a leader that stops begins no move', async () => {
  const of = world()
  await of.run()
  of.failed.add('a')
  const leads = new AbortController()
  const run = of.reconcile('203.0.113.1', leads.signal)
  leads.abort()
  await run.catch(() => undefined)
  assert.equal([of.at(), of.writes.length], ['A', 1])
})

test.run()
