// The API server fails at every single call of a path, before or after it carried the call out.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KubeError } from '../../../kube/errors.ts'
import { services } from '../../../kube/resource.ts'
import { bind } from '../../../ledger/claim/stored-record.ts'
import { type ElasticIP, elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { retain } from '../../../ledger/release/release.ts'
import { makeService } from '../../builders.ts'
import type { HeardCall, Hooks } from '../../fakes/interposed.ts'
import { makeHarness, neverAborted, timeoutMs, type Harness } from '../harness.ts'

/** A process that is cut off from the API server, once at its nth call, or from its nth call on. */
function cutAt(nth: number, moment: 'before' | 'after', lasting = false): Hooks & { calls: number } {
  const cut: Hooks & { calls: number } = { calls: 0 }
  if (moment === 'before') cut.before = () => fail((cut.calls += 1))
  else cut.after = () => fail((cut.calls += 1))
  const fail = (call: number) => {
    if (call === nth || (lasting && call > nth)) throw new KubeError('cut off', { status: 0, reason: 'Unreachable' })
  }
  return cut
}

const broken = (error: unknown) => {
  if (!(error instanceof KubeError)) throw error
  return { kind: 'broken' as const }
}

const situations: { name: string; begin: (harness: Harness) => Promise<void> | void; bought: number }[] = [
  { name: 'a first claim', begin: (harness) => harness.setAdoptionMark(), bought: 1 },
  { name: 'a first claim before the first sweep', begin: () => {}, bought: 1 },
  {
    name: 'a claim after a temporary fault',
    begin: async (harness) => {
      harness.setAdoptionMark()
      harness.cloud.fates.push('unavailable')
      await harness.alone('first').claim()
    },
    bought: 1,
  },
  {
    name: 'a claim whose answer is lost',
    begin: (harness) => {
      harness.setAdoptionMark()
      harness.cloud.fates.push('lost')
    },
    bought: 1,
  },
  {
    name: 'a claim that is granted late',
    begin: (harness) => {
      harness.setAdoptionMark()
      harness.cloud.fates.push('requested')
    },
    bought: 1,
  },
  {
    name: 'a claim that is refused once',
    begin: (harness) => {
      harness.setAdoptionMark()
      harness.cloud.fates.push('quota')
    },
    bought: 1,
  },
]

for (const { name, begin, bought } of situations) {
  for (const moment of ['before', 'after'] as const) {
    test(`${name} buys one address, whichever call is lost ${moment} it arrived`, async () => {
      for (let nth = 1; ; nth += 1) {
        const harness = makeHarness()
        await begin(harness)
        const cut = cutAt(nth, moment)
        await harness.alone('a', { kube: cut }).claim().catch(broken)
        if (cut.calls < nth) return assert.ok(nth > 2, 'no call was made at all')
        await untilHeld(harness)
        assert.is(harness.cloud.bought.length, bought, `call ${nth}`)
        assert.is(harness.record()?.status?.reservationID, harness.reservationsOf()[0], `call ${nth}`)
        assert.equal(harness.record()?.metadata.finalizers, ['eip-admission.dev/reservation-cleanup'], `call ${nth}`)
      }
    })
  }
}

/** Others claim, again and again, as time goes on. */
async function untilHeld(harness: Harness): Promise<void> {
  const process = harness.alone('b')
  for (let looks = 0; looks < 5; looks += 1) {
    const requested = harness.cloud.reserved().find(({ state }) => state === 'requested')
    if (requested) harness.cloud.grant(requested.id)
    if ((await process.claim().catch(broken)).kind === 'held') return
    harness.advance(timeoutMs)
  }
  throw new Error('the address never came')
}

for (const moment of ['before', 'after'] as const) {
  test(`a release leaves nothing behind, whichever call to the API server the process dies at (${moment} it)`, async () => {
    for (let nth = 1; ; nth += 1) {
      const harness = makeHarness()
      harness.setAdoptionMark()
      await harness.alone('a').claim()
      const cut = cutAt(nth, moment, true)
      const released = await harness.alone('b', { kube: cut }).release().catch(broken)
      if (released === 'released' && cut.calls < nth)
        return assert.ok(nth > 4, 'it took fewer calls than there are steps')
      const again = harness.alone('c')
      while ((await again.release()) !== 'no record') continue
      assert.equal([harness.reservationsOf(), harness.record()], [[], undefined], `call ${nth}`)
    }
  })

  test(`a release leaves nothing behind, whichever call to the provider the process dies at (${moment} it)`, async () => {
    for (let nth = 1; ; nth += 1) {
      const harness = makeHarness()
      harness.setAdoptionMark()
      await harness.alone('a').claim()
      const cut = cutAt(nth, moment, true)
      const released = await harness.alone('b', { cloud: cut }).release().catch(broken)
      if (released === 'released' && cut.calls < nth)
        return assert.ok(nth > 2, 'it took fewer calls than there are steps')
      const again = harness.alone('c')
      while ((await again.release()) !== 'no record') continue
      assert.equal([harness.reservationsOf(), harness.record()], [[], undefined], `call ${nth}`)
    }
  })

  test(`bind and retain can be repeated, whichever call was lost (${moment} it arrived)`, async () => {
    for (let nth = 1; nth <= 4; nth += 1) {
      const harness = makeHarness()
      harness.setAdoptionMark()
      const a = harness.alone('a')
      await a.claim()
      const cut = harness.alone('cut', { kube: cutAt(nth, moment, true) })
      const record = () => harness.record() as ElasticIP
      await bind(cut.deps, { record: record(), uid: 'uid-7' }, neverAborted).catch(broken)
      await bind(a.deps, { record: record(), uid: 'uid-7' }, neverAborted)
      assert.equal([harness.record()?.status?.phase, harness.record()?.spec.claimRef?.uid], ['Bound', 'uid-7'])
      await retain(cut.deps, record(), neverAborted).catch(broken)
      await retain(a.deps, record(), neverAborted)
      assert.equal([harness.record()?.status?.phase, harness.record()?.spec.claimRef?.uid], ['Released', undefined])
      assert.is(harness.reservationsOf().length, 1)
    }
  })
}

test('the next sweep completes what an interrupted one began', async () => {
  for (const moment of ['before', 'after'] as const) {
    for (let nth = 1; ; nth += 1) {
      const harness = makeHarness()
      await harness.alone('predecessor').claim()
      const [bought] = harness.cloud.bought
      await harness.alone('x').release()
      if (bought) harness.cloud.put(bought)
      harness.addService(makeService())
      const cut = cutAt(nth, moment, true)
      const swept = await harness
        .alone('a', { kube: cut })
        .sweep(new AbortController().signal)
        .then(() => 'swept', broken)
      if (swept === 'swept' && cut.calls < nth) break
      const b = harness.alone('b')
      for (let sweeps = 0; sweeps < 3; sweeps += 1) {
        await b.sweep(new AbortController().signal)
        await b.claim().catch(broken)
        harness.advance(timeoutMs)
      }
      assert.is(harness.cloud.bought.length, 1, `${moment} call ${nth}`)
      assert.is(harness.record()?.status?.reservationID, 'res-1', `${moment} call ${nth}`)
      assert.ok(await b.mark.isSet(new AbortController().signal))
    }
  }
})

test('a reservation reaches its record after a short absence of the API server', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  let away = false
  const outage: Hooks = {
    before: () => {
      if (away) throw new KubeError('away', { status: 503, reason: 'ServiceUnavailable' })
    },
  }
  const goesAway = { after: () => void (away = true) }
  const claiming = harness.alone('a', { kube: outage, cloud: goesAway }).claim()
  await sleep(120)
  away = false
  assert.is((await claiming).kind, 'held')
  assert.is(harness.api.stored(services).length, 0)
})

for (const fate of ['reserved', 'requested'] as const) {
  test(`when somebody removes the record while the provider answers ${fate}, the next claim finds what was bought`, async () => {
    const harness = makeHarness()
    harness.setAdoptionMark()
    harness.cloud.fates.push(fate)
    const process = harness.alone('a', {
      cloud: {
        after: ({ verb }) => void (verb === 'reserve' && harness.api.drop(elasticIPs, { name: 'default.web' })),
      },
    })
    assert.is((await process.claim()).kind, 'busy')
    const second = await process.claim()
    assert.is(second.kind, fate === 'reserved' ? 'held' : 'pending')
    assert.is(harness.record()?.status?.reservationID, 'res-1')
    assert.is(harness.record()?.status?.address, fate === 'reserved' ? '203.0.113.1' : undefined)
    assert.equal(harness.reservationsOf(), ['res-1'])
  })
}

test('a create whose answer is lost sent no request: the process that sent it claims again at once', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  let isLost = true
  const after = ({ verb }: HeardCall) => {
    if (verb !== 'create' || !isLost) return
    isLost = false
    throw new KubeError('no answer', { status: 0, reason: 'Timeout' })
  }
  const [first, other] = [harness.alone('first', { kube: { after } }), harness.alone('other')]
  assert.is((await first.claim().catch(broken)).kind, 'broken')
  assert.is((await other.claim()).kind, 'busy', 'another process cannot know that')
  assert.is((await first.claim()).kind, 'held')
  assert.is(harness.reservationsOf().length, 1)
})

test('simultaneous claims of one process, one of which meets the record of the other, buy one address', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  let answer = () => {}
  const held = new Promise<void>((done) => (answer = done))
  let creates = 0
  // The record is stored, and the process does not know it yet.
  const after = async ({ verb }: HeardCall) => {
    if (verb === 'create' && (creates += 1) === 1) await held
  }
  const process = harness.alone('first', { kube: { after } })
  const first = process.claim()
  await sleep(20)
  assert.is((await process.claim()).kind, 'busy')
  assert.is((await process.claim()).kind, 'busy')
  answer()
  assert.is((await first).kind, 'held')
  assert.is(harness.reservationsOf().length, 1)
})

test.run()
