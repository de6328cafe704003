// A process with the settings of a project, and the ledger that remembers one.
import { setImmediate } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError, type Reservation } from '../../../clouds/ports/cloud.ts'
import type { ConfigMap } from '../../../kube/objects.ts'
import { configMaps } from '../../../kube/resource.ts'
import { confirmProjectAnnotation } from '../../../ledger/record/names.ts'
import { haltMemory, ledgerMap } from '../../../ledger/identity/ledger-map.ts'
import { projectCheck } from '../../../ledger/identity/project-check.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { silentLog } from '../../fakes/log.ts'
import { makeReservation } from '../../builders.ts'
import { neverAborted } from '../harness.ts'

const at = { namespace: 'eip', name: 'ledger' }

function makeCluster() {
  const api = apiServer()
  const events: string[] = []
  const facts: { held: string[]; listed: Reservation[]; hasNoSuchProject?: boolean } = { held: [], listed: [] }
  let nowMs = 0
  const stored = () => api.stored(configMaps)[0] as ConfigMap
  let lists = 0
  const check = (id: string, more: { isOfToken?: true; formerId?: string } = {}) =>
    projectCheck({
      map: ledgerMap({
        client: api.client,
        ...at,
        halt: haltMemory({ cluster: 'us', at }),
        monotonicMs: () => nowMs,
      }),
      at,
      project: { id, setting: 'PROJECT', ...more },
      cluster: 'us',
      held: () => Promise.resolve(facts.held),
      list: async () => {
        lists += 1
        if (facts.hasNoSuchProject) throw new CloudError('no such project', { fault: 'invalid', outcome: 'nothing' })
        return facts.listed
      },
      log: silentLog,
      event: (_map, { reason }) => void events.push(reason),
      clock: {
        now: () => nowMs,
        date: () => new Date(nowMs),
        sleep: async (ms) => {
          nowMs += ms
          await setImmediate()
        },
      },
    })
  const confirm = (id: string) =>
    api.put(configMaps, {
      ...stored(),
      metadata: { ...stored().metadata, annotations: { [confirmProjectAnnotation]: id } },
    })
  return { api, events, facts, stored, check, confirm, lists: () => lists }
}

test('where the token decides the project, its reservations are compared at each start, and once', async () => {
  const { check, facts, stored, lists } = makeCluster()
  const first = check('cloud', { isOfToken: true })
  await first.check(neverAborted)
  assert.is(first.problem(), undefined)
  facts.held = ['res-1']
  const wrong = check('cloud', { isOfToken: true })
  await wrong.check(neverAborted)
  assert.match(wrong.problem() ?? '', /the project of the token \(PROJECT\) has none of them/)
  assert.is(wrong.haltReason(stored()), wrong.problem())
  facts.listed = [makeReservation({ id: 'res-1' })]
  const right = check('cloud', { isOfToken: true })
  await right.check(neverAborted)
  const before = lists()
  await right.check(neverAborted)
  await right.check(neverAborted)
  assert.equal([right.problem(), right.haltReason(stored()), lists() - before], [undefined, undefined, 0])
})

test('a ledger that remembers a previous id belongs to the part of the project that has its reservations', async () => {
  const { check, facts, stored, lists } = makeCluster()
  await check('p').check(neverAborted)
  facts.held = ['res-1']
  const wrong = check('p/2', { formerId: 'p' })
  await wrong.check(neverAborted)
  assert.match(wrong.problem() ?? '', /project p\/2 \(PROJECT\) has none of them/)
  assert.is(wrong.haltReason(stored()), wrong.problem())
  facts.listed = [makeReservation({ id: 'res-1' })]
  const right = check('p/1', { formerId: 'p' })
  assert.match(right.haltReason(stored()) ?? '', /not read yet/)
  await right.check(neverAborted)
  await right.check(neverAborted)
  assert.equal([stored().data?.['project'], right.problem(), lists()], ['p/1', undefined, 3])
  facts.listed = []
  await wrong.check(neverAborted)
  assert.match(wrong.problem() ?? '', /belongs to project p\/1/)
})

test('the first process remembers its project, and one with another project may do nothing', async () => {
  const { check, stored, events } = makeCluster()
  const [right, wrong] = [check('right'), check('wrong')]
  assert.match(right.problem() ?? '', /not read yet/)
  await right.check(neverAborted)
  await wrong.check(neverAborted)
  assert.equal(stored().data, { cluster: 'us', project: 'right' })
  assert.equal([right.problem(), right.haltReason(stored())], [undefined, undefined])
  assert.match(wrong.problem() ?? '', /belongs to project right/)
  assert.is(wrong.haltReason(stored()), wrong.problem())
  assert.equal(events, ['OtherProject'])
})

test('a mistyped project is not remembered, so the corrected one needs no confirmation', async () => {
  const { check, facts, api } = makeCluster()
  facts.hasNoSuchProject = true
  const mistyped = check('mistyped')
  await mistyped.check(neverAborted)
  assert.equal([mistyped.problem(), api.stored(configMaps)], [undefined, []])
  facts.hasNoSuchProject = false
  const corrected = check('corrected')
  await corrected.check(neverAborted)
  assert.equal([corrected.problem(), api.stored(configMaps)[0]?.data?.['project']], [undefined, 'corrected'])
})

test('deleting the ConfigMap while the process runs neither halts a process with the right project nor admits another', async () => {
  const { check, facts } = makeCluster()
  const [right, wrong] = [check('right'), check('wrong')]
  await right.check(neverAborted)
  facts.held = ['res-1']
  await wrong.check(neverAborted)
  assert.is(right.haltReason(undefined), undefined)
  assert.match(wrong.haltReason(undefined) ?? '', /belongs to project right/)
})

test('a project that has none of the reservations gets a ConfigMap, for a person to confirm it there', async () => {
  const { check, facts, stored, confirm } = makeCluster()
  facts.held = ['res-1']
  const one = check('one')
  await one.check(neverAborted)
  assert.equal(stored().data, { cluster: 'us' })
  confirm('one')
  await one.check(neverAborted)
  assert.equal([stored().data, one.problem()], [{ cluster: 'us', project: 'one' }, undefined])
  assert.equal(stored().metadata.annotations, {})
})

test('the confirmed project works, and the process with the previous one ends its work', async () => {
  const { check, confirm, events } = makeCluster()
  const [former, next] = [check('previous'), check('next')]
  await former.check(neverAborted)
  await next.check(neverAborted)
  const stop = new AbortController()
  const working = new Set<string>()
  const run = (name: string, of: typeof former) =>
    of.run(async (signal) => {
      working.add(name)
      while (!signal.aborted) await setImmediate()
      working.delete(name)
    }, stop.signal)
  const runs = Promise.all([run('previous', former), run('next', next)])
  while (!working.has('previous')) await setImmediate()
  assert.not(working.has('next'))
  confirm('next')
  while (working.has('previous') || !working.has('next')) await setImmediate()
  assert.match(former.problem() ?? '', /belongs to project next/)
  assert.ok(events.includes('ProjectConfirmed'))
  stop.abort()
  await runs
  assert.is(working.size, 0)
})

test('with another project, no work begins', async () => {
  const { check } = makeCluster()
  await check('right').check(neverAborted)
  const stop = new AbortController()
  const began: string[] = []
  const running = check('wrong').run(async () => void began.push('work'), stop.signal)
  for (let n = 0; n < 100; n += 1) await setImmediate()
  stop.abort()
  await running
  assert.equal(began, [])
})

test.run()
