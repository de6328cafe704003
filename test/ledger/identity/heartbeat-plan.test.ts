import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type HeartbeatSeen, makeHeartbeat, planHeartbeat, witnessOf } from '../../../ledger/identity/heartbeat-plan.ts'
import { heartbeatMark, serviceMarks } from '../../../ledger/record/marks.ts'
import { makeReservation } from '../../builders.ts'
import { testRows } from '../../drawn-rows.ts'

const scheme = { usage: 'cloud-provider-equinix-metal-auto', separator: '/', cluster: 'cluster-1' } as const
const marks = serviceMarks(scheme, 'default/web')
const minute = 60_000
const entries: HeartbeatSeen['entries'] = {
  heartbeats: [],
  foreign: undefined,
  isAlive: false,
  hasWaited: false,
  former: [],
  overruled: undefined,
  confirmed: undefined,
}
const base: HeartbeatSeen = {
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
const carrying = (heartbeat: string) => ({
  reservations: [makeReservation({ marks: { ...marks, [heartbeatMark]: heartbeat } })],
})
const known = (facts: Partial<HeartbeatSeen['entries']>) => ({ entries: { ...entries, ...facts } })
const watched = (heartbeats: string, minutes: number) => ({ watched: { heartbeats, forMs: minutes * minute } })
const mine = known({ heartbeats: ['older.300', 'last.300'] })
const stopped = known({ heartbeats: ['last.300'], foreign: 'theirs.300' })

const cases: [name: string, seen: Partial<HeartbeatSeen>, plan: string][] = [
  ['no heartbeat yet: the oldest reservation carries the first one', {}, 'ours on res-1'],
  ['no reservation: nothing can be doubled', { reservations: [], ...mine, observedMs: 0 }, 'ours on nothing'],
  ['our last heartbeat', { ...mine, ...carrying('last.300') }, 'ours on res-1'],
  ['our heartbeat whose write was late', { ...mine, ...carrying('older.300') }, 'ours on res-1'],
  [
    'our last heartbeat, but this leader has just begun',
    { ...mine, ...carrying('last.300'), observedMs: minute },
    'observe',
  ],
  ['no heartbeat although we wrote one, and this leader has just begun', { ...mine, observedMs: minute }, 'observe'],
  ['a new leader that has observed longer than an interval', { ...mine, observedMs: 7 * minute }, 'ours on res-1'],
  ["another's heartbeat", { ...mine, ...carrying('theirs.300') }, 'foreign theirs.300'],
  ["another's heartbeat where we never wrote one", carrying('theirs.300'), 'foreign theirs.300'],
  [
    'it has not changed for two intervals',
    { ...stopped, ...carrying('theirs.300'), ...watched('theirs.300', 10) },
    'foreign theirs.300',
  ],
  [
    'it has not changed for three',
    { ...stopped, ...carrying('theirs.300'), ...watched('theirs.300', 15) },
    'take-over res-1',
  ],
  [
    'not for three of ours, but it sweeps less often',
    { ...stopped, ...carrying('theirs.900'), ...watched('theirs.900', 15) },
    'foreign theirs.900',
  ],
  ['it has changed', { ...stopped, ...carrying('next.300'), ...watched('theirs.300', 5) }, 'foreign next.300 alive'],
  [
    'it changed once and is silent since',
    { ...known({ foreign: 'theirs.300', isAlive: true }), ...carrying('next.300'), ...watched('next.300', 600) },
    'foreign next.300 alive',
  ],
  [
    'it names a machine that serves this cluster, which was put back to an older backup',
    { ...mine, ...carrying('later.300.m1'), witnessed: ['later.300.m1'] },
    'take-over res-1',
  ],
  [
    'the same, and we had stopped before that machine was seen',
    { ...known({ foreign: 'later.300.m1' }), ...carrying('later.300.m1'), witnessed: ['later.300.m1'] },
    'take-over res-1',
  ],
  [
    'the same beside the heartbeat of another cluster',
    {
      ...mine,
      reservations: ['later.300.m1', 'theirs.300.m2'].map((heartbeat) =>
        makeReservation({ marks: { ...marks, [heartbeatMark]: heartbeat } }),
      ),
      witnessed: ['later.300.m1'],
    },
    'foreign later.300.m1,theirs.300.m2',
  ],
  [
    'the same, but a heartbeat changed meanwhile: somebody else writes too',
    { ...stopped, ...carrying('later.300.m1'), ...watched('theirs.300', 5), witnessed: ['later.300.m1'] },
    'foreign later.300.m1 alive',
  ],
  [
    'a person has confirmed that this cluster is the one',
    { ...known({ foreign: 'theirs.300', isAlive: true, confirmed: 'theirs.300' }), ...carrying('next.300') },
    'take-over res-1',
  ],
  [
    'a person has confirmed it before we stopped',
    { ...known({ confirmed: 'theirs.300' }), ...carrying('theirs.300') },
    'take-over res-1',
  ],
  [
    'a confirmation of something else',
    { ...known({ foreign: 'theirs.300', isAlive: true, confirmed: 'cluster-1' }), ...carrying('next.300') },
    'foreign next.300 alive',
  ],
  [
    'a heartbeat that we overruled',
    { ...known({ heartbeats: ['last.300'], former: ['theirs.300'] }), ...carrying('theirs.300') },
    'ours on res-1',
  ],
  ['we had stopped, and our heartbeat is back', { ...stopped, ...carrying('last.300') }, 'foreign theirs.300 alive'],
]
for (const [name, seen, expected] of cases) {
  test(name, () => {
    const plan = planHeartbeat({ ...base, ...seen })
    const text = {
      ours: () => `ours on ${plan.kind === 'ours' ? (plan.carrier?.id ?? 'nothing') : ''}`,
      observe: () => 'observe',
      foreign: () => plan.kind === 'foreign' && `foreign ${plan.heartbeats.join()}${plan.isAlive ? ' alive' : ''}`,
      'take-over': () => plan.kind === 'take-over' && `take-over ${plan.carrier?.id}`,
    }[plan.kind]()
    assert.is(text, expected)
  })
}

test('neither a warm address nor one that names another cluster carries the heartbeat', () => {
  const { service: _service, ...warm } = marks
  const reservations = [
    makeReservation({ marks: warm }),
    makeReservation({ marks: { ...marks, cluster: 'cluster-2' } }),
  ]
  assert.equal(planHeartbeat({ ...base, reservations }), { kind: 'ours', carrier: undefined })
})

test('a heartbeat names its witness', () => {
  assert.is(witnessOf(makeHeartbeat('abc', { intervalMs: 90_500, witness: '0f' })), '0f')
  assert.is(witnessOf(makeHeartbeat('abc', { intervalMs: 90_500, witness: undefined })), undefined)
})

test('a heartbeat says how often its cluster sweeps', () => {
  assert.is(makeHeartbeat('abc', { intervalMs: 90_500, witness: undefined }), 'abc.91')
})

testRows(
  'ledger/identity/heartbeat-plan.ts',
  cases.map(([name, , plan]) => [name, plan.split(' ')[0] ?? '']),
  [
    'a person has confirmed that this cluster is the one',
    'it has changed',
    'it names a machine that serves this cluster, which was put back to an older backup',
    'it has not changed for three',
    "another's heartbeat",
    'we had stopped, and our heartbeat is back',
    'our last heartbeat, but this leader has just begun',
    'our last heartbeat',
  ],
)

test.run()
