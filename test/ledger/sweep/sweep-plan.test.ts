import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Reservation } from '../../../clouds/ports/cloud.ts'
import type { Service } from '../../../kube/objects.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { clusterMarks, serviceMarks } from '../../../ledger/record/marks.ts'
import { warmLabel } from '../../../ledger/record/names.ts'
import { type SweepSeen, planSweep } from '../../../ledger/sweep/sweep-plan.ts'
import type { Want } from '../../../ledger/want/want.ts'
import { makeLot, makeRecord, makeReservation, makeService } from '../../builders.ts'
import { testRows } from '../../drawn-rows.ts'

const scheme = { usage: 'cloud-provider-equinix-metal-auto', separator: '/', cluster: 'cluster-1' } as const
const marks = serviceMarks(scheme, 'default/web')
const reserve: Want = { kind: 'reserve', location: 'da', family: 'ipv4', reclaim: 'Delete', warnings: [] }
const reservation = makeReservation({ marks })
const longAgo = new Map([['res-1', 15 * 60_000 + 1]])
const base: SweepSeen = {
  reservations: [reservation],
  records: [],
  services: [],
  scheme,
  suspects: new Map(),
  graceMs: 15 * 60_000,
  requestAnnotations: [],
  sweepsUntagged: false,
}

function plan(seen: Partial<SweepSeen>) {
  const { adopt, release, suspects, surplus, isComplete } = planSweep({ ...base, ...seen })
  return {
    adopt: adopt.map(({ key, reservation: { id }, record }) => `${key} ${id}${record ? ' into its record' : ''}`),
    release: release.map(({ id }) => id),
    suspects: [...suspects],
    ...(surplus.length > 0 && { surplus: surplus.map(({ reservation: { id } }) => id) }),
    isComplete,
  }
}

test('the hash of a Service is the one that predecessors write', () => {
  assert.is(serviceMarks(scheme, 'default/web')['service'], 'grOt6dAM0WQqTUIOZw1s2Y60hJou4P9m1mieZFyOsz8=')
})

test('a reservation of a live Service is adopted', () => {
  const services = [{ service: makeService(), wanted: reserve }]
  assert.equal(plan({ services }), { adopt: ['default/web res-1'], release: [], suspects: [], isComplete: true })
})

test('a reservation whose record waits for its answer goes into that record', () => {
  const seen = plan({
    records: [makeRecord({ phase: 'Requested' })],
    services: [{ service: makeService(), wanted: reserve }],
  })
  assert.equal(seen, { adopt: ['default/web res-1 into its record'], release: [], suspects: [], isComplete: true })
})

test('a reservation of the other family is reported and kept, because the next Service of that name may use it', () => {
  const services = [{ service: makeService(), wanted: { ...reserve, family: 'ipv6' } as const }]
  const seen = { adopt: [], release: [], suspects: [], surplus: ['res-1'], isComplete: false }
  assert.equal(plan({ services }), seen)
  const records = [makeRecord({ phase: 'Requested' }, { ipFamily: 'IPv6' })]
  assert.equal(plan({ services, records }), seen)
})

test('a record that is being released adopts nothing', () => {
  const seen = plan({
    records: [makeRecord({ phase: 'Releasing' })],
    services: [{ service: makeService(), wanted: reserve }],
  })
  assert.equal(seen, { adopt: [], release: [], suspects: [], isComplete: false })
})

test('a reservation with a record needs nothing', () => {
  const records = [makeRecord({ phase: 'Bound', reservationID: 'res-1' })]
  assert.equal(plan({ records }), { adopt: [], release: [], suspects: [], isComplete: true })
})

test('the older of two reservations for one Service is adopted, and the younger is checked again', () => {
  const younger = makeReservation({ id: 'res-2', marks, createdAt: '2026-01-31T08:30:00Z' })
  const services = [{ service: makeService(), wanted: reserve }]
  const seen = plan({ reservations: [younger, reservation], services })
  assert.equal(seen, { adopt: ['default/web res-1'], release: [], suspects: [], isComplete: false })
})

const kept: [name: string, wanted: Want, service: Parameters<typeof makeService>[0], record: boolean][] = [
  ['that has another one of ours', reserve, {}, true],
  [
    'that has a user-chosen address',
    { kind: 'own', address: '192.0.2.7', where: '' },
    { loadBalancerIP: '192.0.2.7' },
    false,
  ],
  ['that requests an ElasticIP', { kind: 'named', elasticIP: 'mine', family: 'ipv4', warnings: [] }, {}, false],
  ['of another class', { kind: 'ignored', reason: 'its class is other' }, {}, false],
]
for (const [name, wanted, service, hasRecord] of kept) {
  test(`a reservation with the marks of a live Service ${name} is reported and kept`, () => {
    const records = hasRecord ? [makeRecord({ phase: 'Bound', address: '203.0.113.9', reservationID: 'res-9' })] : []
    const services = [{ service: makeService(service), wanted }]
    const seen = plan({ records, services, suspects: longAgo })
    assert.equal(seen, { adopt: [], release: [], suspects: [], surplus: ['res-1'], isComplete: true })
  })
}

test('a reservation whose address a Service shows as its own is adopted', () => {
  const { address = '' } = reservation
  const wanted: Want = { kind: 'own', address, where: 'spec.loadBalancerIP' }
  const services = [{ service: makeService({ loadBalancerIP: address }), wanted }]
  assert.equal(plan({ services }).adopt, ['default/web res-1'])
})

test('an orphan is only suspected the first time', () => {
  assert.equal(plan({}), { adopt: [], release: [], suspects: ['res-1'], isComplete: false })
})

test('an orphan that two sweeps saw is released', () => {
  assert.equal(plan({ suspects: longAgo }).release, ['res-1'])
})

const sharer = (name: string, { namespace = 'default', wanted = address, ...of }: SharerFacts = {}) => ({
  service: makeService({ namespace, name, uid: name, status: { loadBalancer: { ingress: [{ ip: address }] } }, ...of }),
  wanted: { kind: 'own', address: wanted, where: '' } as const,
})
type SharerFacts = { namespace?: string; wanted?: string; creationTimestamp?: string; deletionTimestamp?: string }
const address = reservation.address ?? ''
const ofDb = { claimRef: { namespace: 'default', name: 'db' } }
const record = { ...makeRecord({ phase: 'Released' }, ofDb), metadata: { name: 'default.db' } }
const heirs: [name: string, seen: Partial<SweepSeen>, heir: string[]][] = [
  ['a Service that shares it', { services: [sharer('db')] }, ['db']],
  [
    'the oldest of several',
    {
      services: [
        sharer('a', { creationTimestamp: '2021-01-01T00:00:00Z' }),
        sharer('db', { creationTimestamp: '2020-01-01T00:00:00Z' }),
      ],
    },
    ['db'],
  ],
  ['nobody before it would be released', { services: [sharer('db')], suspects: new Map([['res-1', 1]]) }, []],
  ['nobody where two namespaces show it', { services: [sharer('db'), sharer('db', { namespace: 'tenant' })] }, []],
  [
    'a Service of its namespace, whatever a Service of another program shows',
    {
      services: [sharer('db'), { ...sharer('db', { namespace: 'tenant' }), wanted: { kind: 'nothing', reason: '' } }],
    },
    ['db'],
  ],
  ['nobody who requests another address', { services: [sharer('db', { wanted: '192.0.2.7' })] }, []],
  ['nobody who is being deleted', { services: [sharer('db', { deletionTimestamp: 'now' })] }, []],
  ['nobody with an ElasticIP of its own', { services: [sharer('db')], records: [record] }, []],
  [
    'nobody while it is retained',
    { services: [sharer('db')], reservations: [{ ...reservation, marks: { ...marks, retained: 'true' } }] },
    [],
  ],
  [
    'nobody where the provider denied it',
    { services: [sharer('db')], reservations: [{ ...reservation, state: 'denied' }] },
    [],
  ],
  ['nobody where sweeps only report', { services: [sharer('db')], keepsOrphans: true }, []],
  ['nobody where no Service shows it', {}, []],
]
for (const [name, seen, heir] of heirs)
  test(`an orphan passes to ${name}`, () => {
    const { pass, release } = planSweep({ ...base, suspects: longAgo, ...seen })
    assert.equal(
      pass.map((one) => one.heir.metadata.name),
      heir,
    )
    assert.is(release.length, seen.services || seen.reservations ? 0 : 1)
  })

test('an orphan that was not seen for the grace period is not released: its Service may be about to be stored', () => {
  assert.equal(plan({ suspects: new Map([['res-1', 15 * 60_000]]) }).release, [])
})

test('a Service that is no longer a LoadBalancer owns no reservation', () => {
  const services = [{ service: makeService({ type: 'ClusterIP' }), wanted: { kind: 'nothing', reason: '' } as const }]
  assert.equal(plan({ services, suspects: longAgo }).release, ['res-1'])
})

test('a Service that is being deleted owns no reservation: adopted, it would be kept without a user', () => {
  const services = [{ service: makeService({ deletionTimestamp: 'now' }), wanted: reserve }]
  const seen = plan({ services, suspects: longAgo })
  assert.equal([seen.adopt, seen.release], [[], ['res-1']])
})

test('a Service that is wrong or ignored still owns its reservation', () => {
  for (const wanted of [
    { kind: 'wrong' as const, problems: [] },
    { kind: 'ignored' as const, reason: '' },
  ]) {
    const seen = plan({ services: [{ service: makeService(), wanted }], suspects: longAgo })
    assert.equal(seen.release, [])
  }
})

const own = { kind: 'own', address: '203.0.113.40' } as const
const unmarked = [makeReservation({ id: 'res-1', marks: {} })]
for (const [name, seen, adopt] of [
  ['is completed by the next sweep', {}, ['default/web res-1 into its record']],
  [
    'is completed for a Service with a predecessor’s address',
    { services: [{ service: makeService(), wanted: own }] },
    ['default/web res-1 into its record'],
  ],
  ['continues with no other reservation', { reservations: [makeReservation({ id: 'res-3', marks })] }, []],
  ['leaves alone what another cluster may have', { reservations: unmarked, sweepsUntagged: true }, []],
] as const)
  test(`an interrupted adoption ${name}`, () => {
    const begun = makeRecord(undefined, { reservationID: 'res-1' })
    const { release, ...planned } = plan({ records: [begun], suspects: longAgo, ...(seen as Partial<SweepSeen>) })
    assert.equal([planned.adopt, release.includes('res-1')], [adopt, false])
  })

const second = makeReservation({ id: 'res-2', address: '2001:db8::2', marks: serviceMarks(scheme, 'default/web.ipv6') })
const two: Want = { ...reserve, second: { family: 'ipv6', isRequired: false } }
const shownBoth = { status: { loadBalancer: { ingress: [{ ip: '203.0.113.40' }, { ip: '2001:db8::2' }] } } }
const heldFirst = makeRecord({ phase: 'Bound', address: '203.0.113.40', reservationID: 'res-1' })
const seconds: { name: string; wanted: Want; seen?: Partial<SweepSeen>; is: ReturnType<typeof plan> }[] = [
  {
    name: 'of a Service that wants two is adopted',
    wanted: two,
    is: { adopt: ['default/web.ipv6 res-2'], release: [], suspects: [], isComplete: true },
  },
  {
    name: 'of a Service that may want two is adopted',
    wanted: { kind: 'wrong', problems: [] },
    is: { adopt: ['default/web.ipv6 res-2'], release: [], suspects: [], isComplete: true },
  },
  {
    name: 'of a Service that wants one is an orphan',
    wanted: reserve,
    is: { adopt: [], release: [], suspects: ['res-2'], isComplete: false },
  },
  {
    name: 'that its status shows is kept',
    wanted: reserve,
    seen: {
      services: [{ service: makeService(shownBoth), wanted: reserve }],
      suspects: new Map([['res-2', 10_000_000]]),
    },
    is: { adopt: [], release: [], suspects: ['res-2'], isComplete: true },
  },
  {
    name: 'of a Service that is ignored is kept',
    wanted: { kind: 'ignored', reason: '' },
    is: { adopt: [], release: [], suspects: [], surplus: ['res-2'], isComplete: true },
  },
]
for (const { name, wanted, seen, is } of seconds) {
  test(`a reservation for the second address ${name}`, () => {
    const services = [{ service: makeService(), wanted }]
    assert.equal(plan({ reservations: [second], records: [heldFirst], services, ...seen }), is)
  })
}

test('the first record does not take the reservation of the second address, nor vice versa', () => {
  const services = [{ service: makeService(), wanted: two }]
  const waiting = makeRecord({ phase: 'Requested' })
  const other = { ...waiting, metadata: { ...waiting.metadata, name: 'default.web.ipv6' } }
  const adoptions = plan({ reservations: [reservation, second], records: [waiting, other], services }).adopt
  assert.equal(adoptions, ['default/web res-1 into its record', 'default/web.ipv6 res-2 into its record'])
})

const { service: ofWeb = '' } = marks
const unnamed = makeReservation({ marks: { usage: scheme.usage, service: ofWeb } })
const adopted = makeReservation({ marks: { ...marks, adopted: 'untagged' } })
const shows = (ip: string) => makeService({ status: { loadBalancer: { ingress: [{ ip }] } } })
const names = (ip: string) => makeService({ loadBalancerIP: ip })
const { address: itsAddress = '' } = unnamed
const untaggedCases: {
  name: string
  reservation?: Reservation
  service?: Service
  sweepsUntagged?: true
  is: Partial<Record<'adopt' | 'suspects' | 'untagged', string[]>>
}[] = [
  { name: 'whose address its Service shows is adopted', service: shows(itsAddress), is: { adopt: ['res-1'] } },
  { name: 'whose Service shows another is nothing to us', service: shows('203.0.113.9'), is: {} },
  { name: 'whose Service names another is nothing to us', service: names('203.0.113.9'), is: {} },
  {
    name: 'whose Service shows another is nothing to us, though such may be deleted',
    service: shows('203.0.113.9'),
    sweepsUntagged: true,
    is: {},
  },
  { name: 'whose Service shows none is reported', service: makeService(), is: { untagged: ['res-1'] } },
  {
    name: 'whose Service shows none is adopted, where such may be deleted',
    service: makeService(),
    sweepsUntagged: true,
    is: { adopt: ['res-1'] },
  },
  { name: 'without a Service is reported', is: { untagged: ['res-1'] } },
  {
    name: 'without a Service is an orphan, where such may be deleted',
    sweepsUntagged: true,
    is: { suspects: ['res-1'] },
  },
  { name: 'that named none when we adopted it is reported', reservation: adopted, is: { untagged: ['res-1'] } },
  {
    name: 'that named none when we adopted it is an orphan, where such may be deleted',
    reservation: adopted,
    sweepsUntagged: true,
    is: { suspects: ['res-1'] },
  },
]
for (const { name, reservation: one = unnamed, service, sweepsUntagged = false, is } of untaggedCases) {
  test(`a reservation of no cluster ${name}`, () => {
    const services = service ? [{ service, wanted: reserve }] : []
    const packet = { ...scheme, adoptsUnmarked: true } as const
    const { adopt, suspects, untagged } = planSweep({
      ...base,
      scheme: packet,
      reservations: [one],
      services,
      sweepsUntagged,
    })
    const ids = (all: { id: string }[]) => all.map(({ id }) => id)
    assert.equal(
      [ids(adopt.map((adoption) => adoption.reservation)), [...suspects], ids(untagged)],
      [is.adopt ?? [], is.suspects ?? [], is.untagged ?? []],
    )
  })
}

test('a free warm address whose reservation names a Service is a Service’s; one that is claimed stays', () => {
  const warm = (name: string, id: string, claimRef?: ElasticIP['spec']['claimRef']): ElasticIP => {
    const spec = { reclaimPolicy: 'Delete', ...(claimRef && { claimRef }) } as const
    const { metadata, ...lot } = makeLot(name, spec, { phase: 'Available', reservationID: id, address: '203.0.113.7' })
    return { ...lot, metadata: { ...metadata, labels: { [warmLabel]: 'true' } } }
  }
  const claimRef = { namespace: 'default', name: 'web', elasticIPUID: 'uid-9' }
  const records = [warm('warm-da-1', 'res-1'), warm('warm-da-2', 'res-2'), warm('warm-da-3', 'res-3', claimRef)]
  const reservations = [
    makeReservation({ marks }),
    makeReservation({ id: 'res-2', marks: { ...clusterMarks(scheme), 'elastic-ip': 'uid-2' } }),
    makeReservation({ id: 'res-3', marks }),
  ]
  const { alreadyTransferred } = planSweep({ ...base, reservations, records })
  assert.equal(
    alreadyTransferred.map(({ metadata }) => metadata.name),
    ['warm-da-1'],
  )
})

const ofOther = { ...reserve, family: 'ipv6' } as const
const retainedOne = makeReservation({ marks: { ...marks, retained: 'true' } })
const shown = { service: makeService({ name: 'other', status: { loadBalancer: { ingress: [{ ip: itsAddress }] } } }) }
const named: [name: string, seen: Partial<SweepSeen>][] = [
  ['of a Service that wants one', { services: [{ service: makeService(), wanted: reserve }] }],
  ['of a Service that wants another', { services: [{ service: makeService(), wanted: ofOther }], suspects: longAgo }],
  ['of nobody, shown', { services: [{ ...shown, wanted: { kind: 'ignored', reason: '' } }], suspects: longAgo }],
  ['of nobody', { suspects: longAgo }],
  ['of nobody, retained', { reservations: [retainedOne], suspects: longAgo }],
]
const byName = named.map(([name, seen]) => {
  const { adopt, release, surplus = [], suspects } = plan(seen)
  const words = { adopt, released: release, report: surplus, suspect: suspects }
  return [name, Object.entries(words).find(([, ids]) => ids.length > 0)?.[0] ?? 'nothing'] as const
})
const words: Record<string, string> = {
  adopt: 'adopt',
  suspects: 'suspect|if it named our cluster',
  untagged: 'report',
}
const unnamedOnes = untaggedCases.map(({ name, is }) => [name, words[Object.keys(is)[0] ?? ''] ?? 'nothing'] as const)
testRows(
  'ledger/sweep/sweep-plan.ts',
  [...byName, ...unnamedOnes],
  [
    'of a Service that wants one',
    'of a Service that wants another',
    'of nobody, shown',
    'of nobody',
    'of nobody, retained',
    'whose address its Service shows is adopted',
    'whose Service shows another is nothing to us',
    'whose Service shows none is reported',
    'without a Service is reported',
    'that named none when we adopted it is reported',
  ],
)

test.run()
