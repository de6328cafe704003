import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type SignSeen, makeSign, planSign, witnessOf } from '../../../ledger/identity/sign-plan.ts'
import { serviceMarks } from '../../../ledger/record/marks.ts'
import { makeReservation } from '../../builders.ts'
import { testRows } from '../../drawn-rows.ts'

const scheme = { usage: 'cloud-provider-equinix-metal-auto', separator: '/', cluster: 'cluster-1' } as const
const marks = serviceMarks(scheme, 'default/web')
const minute = 60_000
const entries: SignSeen['entries'] = {
  signs: [],
  foreign: undefined,
  isAlive: false,
  hasWaited: false,
  former: [],
  overruled: undefined,
  confirmed: undefined,
}
const base: SignSeen = {
  reservations: [
    makeReservation({ id: 'young', marks, createdAt: '2026-01-31T08:30:00Z' }),
    makeReservation({ marks }),
  ],
  scheme,
  entries,
  observedMs: Infinity,
  watched: undefined,
  witnessed: [],
  intervalMs: 5 * minute,
}
const signed = (sign: string) => ({ reservations: [makeReservation({ marks: { ...marks, sign } })] })
const known = (facts: Partial<SignSeen['entries']>) => ({ entries: { ...entries, ...facts } })
const watched = (signs: string, minutes: number) => ({ watched: { signs, forMs: minutes * minute } })
const mine = known({ signs: ['older.300', 'last.300'] })
const stopped = known({ signs: ['last.300'], foreign: 'theirs.300' })

const cases: [name: string, seen: Partial<SignSeen>, plan: string][] = [
  ['no sign yet: the oldest reservation carries the first one', {}, 'ours on res-1'],
  ['no reservation: nothing can be doubled', { reservations: [], ...mine, observedMs: 0 }, 'ours on nothing'],
  ['our last sign', { ...mine, ...signed('last.300') }, 'ours on res-1'],
  ['our sign whose write was late', { ...mine, ...signed('older.300') }, 'ours on res-1'],
  ['our last sign, but this leader has just begun', { ...mine, ...signed('last.300'), observedMs: minute }, 'observe'],
  ['no sign although we wrote one, and this leader has just begun', { ...mine, observedMs: minute }, 'observe'],
  ['a new leader that has observed longer than an interval', { ...mine, observedMs: 7 * minute }, 'ours on res-1'],
  ["another's sign", { ...mine, ...signed('theirs.300') }, 'foreign theirs.300'],
  ["another's sign where we never wrote one", signed('theirs.300'), 'foreign theirs.300'],
  [
    'it has not changed for two intervals',
    { ...stopped, ...signed('theirs.300'), ...watched('theirs.300', 10) },
    'foreign theirs.300',
  ],
  [
    'it has not changed for three',
    { ...stopped, ...signed('theirs.300'), ...watched('theirs.300', 15) },
    'take-over res-1',
  ],
  [
    'not for three of ours, but it sweeps less often',
    { ...stopped, ...signed('theirs.900'), ...watched('theirs.900', 15) },
    'foreign theirs.900',
  ],
  ['it has changed', { ...stopped, ...signed('next.300'), ...watched('theirs.300', 5) }, 'foreign next.300 alive'],
  [
    'it changed once and is silent since',
    { ...known({ foreign: 'theirs.300', isAlive: true }), ...signed('next.300'), ...watched('next.300', 600) },
    'foreign next.300 alive',
  ],
  [
    'it names a machine that serves this cluster, which was put back to an older backup',
    { ...mine, ...signed('later.300.m1'), witnessed: ['later.300.m1'] },
    'take-over res-1',
  ],
  [
    'the same, and we had stopped before that machine was seen',
    { ...known({ foreign: 'later.300.m1' }), ...signed('later.300.m1'), witnessed: ['later.300.m1'] },
    'take-over res-1',
  ],
  [
    'the same beside the sign of another cluster',
    {
      ...mine,
      reservations: ['later.300.m1', 'theirs.300.m2'].map((sign) => makeReservation({ marks: { ...marks, sign } })),
      witnessed: ['later.300.m1'],
    },
    'foreign later.300.m1,theirs.300.m2',
  ],
  [
    'the same, but a sign changed meanwhile: somebody else writes too',
    { ...stopped, ...signed('later.300.m1'), ...watched('theirs.300', 5), witnessed: ['later.300.m1'] },
    'foreign later.300.m1 alive',
  ],
  [
    'a person has confirmed that this cluster is the one',
    { ...known({ foreign: 'theirs.300', isAlive: true, confirmed: 'theirs.300' }), ...signed('next.300') },
    'take-over res-1',
  ],
  [
    'a confirmation of something else',
    { ...known({ foreign: 'theirs.300', isAlive: true, confirmed: 'cluster-1' }), ...signed('next.300') },
    'foreign next.300 alive',
  ],
  [
    'a sign that we overruled',
    { ...known({ signs: ['last.300'], former: ['theirs.300'] }), ...signed('theirs.300') },
    'ours on res-1',
  ],
  ['we had stopped, and our sign is back', { ...stopped, ...signed('last.300') }, 'foreign theirs.300 alive'],
]
for (const [name, seen, expected] of cases) {
  test(name, () => {
    const plan = planSign({ ...base, ...seen })
    const text = {
      ours: () => `ours on ${plan.kind === 'ours' ? (plan.carrier?.id ?? 'nothing') : ''}`,
      observe: () => 'observe',
      foreign: () => plan.kind === 'foreign' && `foreign ${plan.signs.join()}${plan.isAlive ? ' alive' : ''}`,
      'take-over': () => plan.kind === 'take-over' && `take-over ${plan.carrier?.id}`,
    }[plan.kind]()
    assert.is(text, expected)
  })
}

test('neither a warm address nor one that names another cluster carries the sign', () => {
  const { service: _service, ...warm } = marks
  const reservations = [
    makeReservation({ marks: warm }),
    makeReservation({ marks: { ...marks, cluster: 'cluster-2' } }),
  ]
  assert.equal(planSign({ ...base, reservations }), { kind: 'ours', carrier: undefined })
})

test('a sign names its witness', () => {
  assert.is(witnessOf(makeSign('abc', { intervalMs: 90_500, witness: '0f' })), '0f')
  assert.is(witnessOf(makeSign('abc', { intervalMs: 90_500, witness: undefined })), undefined)
})

test('a sign says how often its cluster sweeps', () => {
  assert.is(makeSign('abc', { intervalMs: 90_500, witness: undefined }), 'abc.91')
})

testRows(
  'ledger/identity/sign-plan.ts',
  cases.map(([name, , plan]) => [name, plan.split(' ')[0] ?? '']),
  [
    'a person has confirmed that this cluster is the one',
    'it has changed',
    'it names a machine that serves this cluster, which was put back to an older backup',
    'it has not changed for three',
    "another's sign",
    'we had stopped, and our sign is back',
    'our last sign, but this leader has just begun',
    'our last sign',
  ],
)

test.run()
