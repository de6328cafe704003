import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ElasticIP, ElasticIPStatus } from '../../../ledger/record/elastic-ip.ts'
import { requestOfRecord } from '../../../ledger/record/records.ts'
import { condition, maxHistory, nextHistory } from '../../../ledger/record/status.ts'
import { forRequest } from '../../../lib/request-id.ts'
import { elasticIPStatus } from '../../../manifests/elastic-ip-status.ts'

const now = () => new Date(0)
const time = '1970-01-01T00:00:00.000Z'
const writer = { identity: 'a', now }
const granted = condition('Reserved', { status: 'True', reason: 'Granted', message: 'reservation 7', now: now() })
const step = (phase: string, message?: string) => ({ time, phase, ...(message && { message }), writer: 'a' })

const cases: { name: string; before: ElasticIPStatus; change: Parameters<typeof nextHistory>[1]; after: object }[] = [
  {
    name: 'the first status begins it',
    before: {},
    change: { phase: 'Reserved', conditions: [granted] },
    after: [step('Reserved', 'reservation 7')],
  },
  {
    name: 'a reason without a change of phase is a step',
    before: { phase: 'Requested', history: [step('Requested', 'quota')] },
    change: { message: 'time-out' },
    after: [step('Requested', 'quota'), step('Requested', 'time-out')],
  },
  {
    name: 'the same reason again is none',
    before: { phase: 'Requested', history: [step('Requested', 'time-out')] },
    change: { phase: 'Requested', message: 'time-out' },
    after: [step('Requested', 'time-out')],
  },
  {
    name: 'a change without a phase and a reason is none',
    before: { phase: 'Bound', history: [step('Bound')] },
    change: {},
    after: [step('Bound')],
  },
  {
    name: 'the phase alone is a step, when it changes',
    before: { phase: 'Bound', history: [step('Bound')] },
    change: { phase: 'Releasing' },
    after: [step('Bound'), step('Releasing')],
  },
]

for (const { name, before, change, after } of cases)
  test(name, () => assert.equal(nextHistory(before, change, writer), after))

test('it keeps as many steps as the CRD allows, and shortens them', () => {
  let status: ElasticIPStatus = {}
  for (let n = 0; n < 30; n++)
    status = { ...status, history: nextHistory(status, { message: `${n} ${'x'.repeat(9_999)}` }, writer) ?? [] }
  assert.is(status.history?.length, maxHistory)
  assert.is(elasticIPStatus.properties.history.maxItems, maxHistory)
  assert.match(status.history?.at(-1)?.message ?? '', /^29 x+$/)
  assert.ok(JSON.stringify(status).length < 5_000)
})

test('a step names the request that it was made for, and the newest one is the record’s', () => {
  const record = (history: ElasticIPStatus['history'], annotation?: string) =>
    ({
      metadata: { name: 'a.b', annotations: annotation ? { 'eip-admission.dev/request-id': annotation } : {} },
      status: history && { history },
    }) as unknown as ElasticIP
  const steps = forRequest('r-2', () => nextHistory({}, { phase: 'Reserved' }, writer))
  assert.is(steps?.[0]?.request, 'r-2')
  assert.is(requestOfRecord(record(steps, 'r-1')), 'r-2')
  assert.is(requestOfRecord(record(undefined, 'r-1')), 'r-1')
  assert.is(requestOfRecord(record([step('Bound')])), undefined)
})

test.run()
