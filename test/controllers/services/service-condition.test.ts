import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { announcerOf } from '../../../announcers/announcers.ts'
import type { LoadBalancer } from '../../../announcers/setting.ts'
import {
  type ConditionSeen,
  type ServiceConditionDeps,
  type WantedCondition,
  serviceCondition,
  wantedCondition,
} from '../../../controllers/services/service-condition.ts'
import { KubeError } from '../../../kube/errors.ts'
import type { Condition, Service } from '../../../kube/objects.ts'
import { services } from '../../../kube/resource.ts'
import { sights } from '../../../lib/sights.ts'
import type { Want } from '../../../ledger/want/want.ts'
import { makeRecord, makeService } from '../../builders.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { testRows } from '../../drawn-rows.ts'

const [address, second] = ['203.0.113.7', '2001:db8::7']
const reserve: Want = { kind: 'reserve', location: 'da', family: 'ipv4', reclaim: 'Delete', warnings: [] }
const own: Want = { kind: 'own', address, where: 'spec.loadBalancerIP' }
const showing = (...ips: string[]) => makeService({ status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } } })
const bound = makeRecord({ phase: 'Bound', address })
const boundSecond = makeRecord({ phase: 'Bound', address: second })
const refused = makeRecord({ phase: 'Requested', message: 'the quota is used up' })
const base: ConditionSeen = {
  service: makeService({}),
  wanted: reserve,
  records: [bound],
  software: 'cilium',
  refusal: undefined,
  claimReason: undefined,
}
const no = (reason: string, message: string): WantedCondition => ({ status: 'False', reason, message })
const shows = (text: string): WantedCondition => ({
  status: 'True',
  reason: 'AddressShown',
  message: `The status shows ${text}`,
})
const notShown = no('NotShown', `${address} is reserved, and cilium has not written it into the status`)

const rows: [name: string, seen: Partial<ConditionSeen>, wanted: WantedCondition][] = [
  ['another class serves it', { wanted: { kind: 'foreign', reason: '?', requested: [] } }, undefined],
  ['it is no LoadBalancer', { wanted: { kind: 'nothing', reason: '?' } }, undefined],
  ['it is to be ignored', { wanted: { kind: 'ignored', reason: '?' }, service: showing(address) }, 'kept'],
  ['it is being deleted', { service: makeService({ deletionTimestamp: '2026-01-01T00:00:00Z' }) }, 'kept'],
  ['it shows its address', { service: showing(address) }, shows(address)],
  ['it shows its own address', { service: showing(address), wanted: own, records: [] }, shows(address)],
  ['a mistake came later', { service: showing(address), wanted: { kind: 'wrong', problems: ['?'] } }, shows(address)],
  ['it has mistakes', { records: [], wanted: { kind: 'wrong', problems: ['a', 'b'] } }, no('Refused', 'a; b')],
  ['nothing shows its address', {}, notShown],
  ['it shows another address', { service: showing('203.0.113.9') }, notShown],
  [
    'the software says why not',
    { refusal: 'pool_selector_mismatch: no' },
    no('NotAnnounced', `cilium does not announce ${address}: pool_selector_mismatch: no`),
  ],
  ['the software was wrong before', { service: showing(address), refusal: 'out of date' }, shows(address)],
  [
    'it shows one of two addresses',
    { service: showing(address), records: [bound, boundSecond] },
    no('NotShown', `${address}, ${second} is reserved, and cilium has not written it into the status`),
  ],
  [
    'it shows both addresses',
    { service: showing(address, second), records: [bound, boundSecond] },
    shows(`${address}, ${second}`),
  ],
  ['its claim was refused', { records: [refused], claimReason: 'over the limit' }, no('Pending', 'over the limit')],
  ['another process claims', { records: [refused] }, no('Pending', 'the quota is used up')],
  ['nothing is known yet', { records: [] }, no('Pending', 'Its address is being reserved')],
  [
    'its own address is in doubt',
    { records: [], wanted: { ...own, doubt: { reason: 'not read yet', isDecided: false } } },
    no('NotAnnounced', 'not read yet'),
  ],
  [
    'its balancer is being created',
    { records: [], wanted: { kind: 'managed', location: 'da', warnings: [] } },
    no('Pending', 'The provider creates its managed load balancer'),
  ],
  [
    'its balancer has a name',
    {
      records: [],
      service: makeService({ status: { loadBalancer: { ingress: [{ hostname: 'lb.example' }] } } }),
      wanted: { kind: 'managed', location: 'da', warnings: [] },
    },
    shows('lb.example'),
  ],
]
for (const [name, seen, wanted] of rows)
  test(`the condition where ${name}`, () => {
    assert.equal(wantedCondition({ ...base, ...seen }), wanted)
  })

test('the condition of Cilium on a Service is its refusal', () => {
  const loadBalancer = { kind: 'cilium', secretsNamespace: 'kube-system' } satisfies LoadBalancer
  const marks = { label: { name: '', value: '' }, advertisement: '', counting: '' }
  const cilium = announcerOf(loadBalancer, marks)
  const said = (status: 'True' | 'False', reason: string): Service => ({
    ...makeService({}),
    status: { conditions: [condition('cilium.io/IPAMRequestSatisfied', status, reason)] },
  })
  assert.equal(
    [said('False', 'already_allocated'), said('True', 'satisfied'), makeService({})].map((one) =>
      cilium.refusal?.(one),
    ),
    ['already_allocated: said', undefined, undefined],
  )
})

function condition(type: string, status: 'True' | 'False', reason: string): Condition {
  return { type, status, reason, message: 'said', lastTransitionTime: '2026-01-01T00:00:00Z' }
}

/** A Service whose condition is written, and what its owner is told. */
function play(client?: ServiceConditionDeps['client']) {
  let service: Service | undefined = makeService({})
  let wanted: Want = reserve
  let passedMs = 0
  let refusal: Error | undefined
  let lost: Error | undefined
  let problem: string | undefined
  const told: string[] = []
  const written: unknown[] = []
  const deps: ServiceConditionDeps = {
    client: client ?? {
      patch: (_resource, { patch }) => {
        if (refusal) return Promise.reject(refusal)
        const failure = lost
        lost = undefined
        const [change] = (patch as { strategic: Pick<Service, 'status'> }).strategic.status?.conditions ?? []
        written.push(change)
        const isRemoved = change && '$patch' in change
        service = service && {
          ...service,
          status: { ...service.status, conditions: change && !isRemoved ? [change] : [] },
        }
        return failure ? Promise.reject(failure) : Promise.resolve(service as never)
      },
    },
    service: () => service,
    want: () => wanted,
    records: () => [bound],
    announcer: { name: 'cilium', refusal: () => undefined },
    problemOf: () => problem,
    claimReason: () => undefined,
    sights: sights(() => passedMs),
    now: () => new Date(Date.parse('2026-01-01T00:00:00Z') + passedMs),
    event: (_service, { reason, message }) => told.push(`${reason}: ${message}`),
  }
  const reconciler = serviceCondition(deps)
  return {
    told,
    written,
    look: () => reconciler.reconcile('default/web', new AbortController().signal),
    refuse: (error: Error | undefined) => void (refusal = error),
    /** The next write is stored, and fails nevertheless. */
    loseAnswer: (error: Error) => void (lost = error),
    fail: (reason: string) => void (problem = reason),
    pass: (ms: number) => void (passedMs += ms),
    show: (...ips: string[]) =>
      void (service = { ...showing(...ips), status: { ...showing(...ips).status, ...conditionsOf(service) } }),
    want: (next: Want) => void (wanted = next),
  }
}

function conditionsOf(service: Service | undefined): Pick<NonNullable<Service['status']>, 'conditions'> {
  const { conditions } = service?.status ?? {}
  return conditions ? { conditions } : {}
}

test('a Service that gets its address within seconds has one write and one Event; nothing repeats them', async () => {
  const { look, pass, show, told, written } = play()
  assert.equal(await look(), { againInMs: 5_000 })
  pass(1_000)
  show(address)
  for (const _again of [1, 2, 3]) assert.equal(await look(), {})
  assert.equal(told, [`EnsuredLoadBalancer: Ensured load balancer: ${address}`])
  assert.is(written.length, 1)
})

test('the condition of a Service that waits reports it after five seconds, once, and keeps the time of the transition', async () => {
  const { look, pass, show, want, told, written } = play()
  await look()
  pass(5_000)
  for (const _again of [1, 2, 3]) assert.equal(await look(), { againInMs: 15_000 })
  assert.is(written.length, 1)
  want({ kind: 'wrong', problems: ['no'] })
  pass(60_000)
  await look()
  const times = written.map((one) => (one as Condition).lastTransitionTime)
  assert.equal(times, ['2026-01-01T00:00:05Z', '2026-01-01T00:00:05Z'])
  want(reserve)
  show(address)
  await look()
  assert.is((written[2] as Condition).lastTransitionTime, '2026-01-01T00:01:05Z')
  assert.equal(told, [`EnsuredLoadBalancer: Ensured load balancer: ${address}`])
})

test('the condition of a Service with a mistake names it at once', async () => {
  const { look, want, written } = play()
  want({ kind: 'wrong', problems: ['no'] })
  await look()
  assert.equal(
    written.map((one) => (one as Condition).reason),
    ['Refused'],
  )
})

test('a Service that is not announced says why, once for each reason', async () => {
  const { look, pass, fail, told } = play()
  await look()
  pass(5_000)
  for (const reason of ['no pool', 'no peer']) {
    fail(reason)
    for (const _again of [1, 2]) {
      pass(1_000)
      await look()
    }
  }
  assert.equal(
    told.map((text) => text.slice(-7)),
    ['no pool', 'no peer'],
  )
})

test('the condition is removed from a Service that another class now serves', async () => {
  const { look, show, want, written } = play()
  show(address)
  await look()
  want({ kind: 'foreign', reason: '?', requested: [] })
  for (const _again of [1, 2]) await look()
  assert.equal(written.slice(1), [{ $patch: 'delete', type: 'eip-admission.dev/AddressReady' }])
})

for (const [reason, status, isThrown] of [
  ['NotFound', 404, false],
  ['Conflict', 409, false],
  ['Forbidden', 403, true],
] as const)
  test(`a condition that the API server refuses with ${reason} is ${isThrown ? 'written later' : 'of a Service that no longer exists'}`, async () => {
    const { look, show, refuse } = play()
    show(address)
    const refusal = new KubeError(reason, { status, reason })
    refuse(refusal)
    const failure = await look().then(
      () => undefined,
      (error: unknown) => error,
    )
    assert.is(failure, isThrown ? refusal : undefined)
  })

for (const [what, status, reason] of [
  ['is repeated and meets itself as a conflict', 409, 'Conflict'],
  ['loses its answer', 0, 'Unreachable'],
] as const)
  test(`a success whose write ${what} is told once`, async () => {
    const { look, show, loseAnswer, told, written } = play()
    show(address)
    loseAnswer(new KubeError(reason, { status, reason }))
    await look().catch(() => undefined)
    for (const _again of [1, 2]) await look()
    assert.equal(told, [`EnsuredLoadBalancer: Ensured load balancer: ${address}`])
    assert.is(written.length, 1)
  })

test('a success that was not stored is not told when the Service has another condition', async () => {
  const { look, show, want, refuse, told } = play()
  want({ kind: 'wrong', problems: ['no'] })
  await look()
  show(address)
  refuse(new KubeError('Conflict', { status: 409, reason: 'Conflict' }))
  await look()
  refuse(undefined)
  show()
  for (const _again of [1, 2]) await look()
  assert.equal(told, [])
})

test('a condition that was decided before the address came is not stored after it', async () => {
  const api = apiServer()
  api.put(services, makeService())
  api.put(services, showing(address))
  const { look, want, told } = play(api.client)
  want({ kind: 'wrong', problems: ['no'] })
  await look()
  assert.is(api.stored(services)[0]?.status?.conditions, undefined)
  assert.equal(told, [])
})

test('a later Service of the same name does not get the condition of the one before', async () => {
  const api = apiServer()
  api.put(services, makeService({ uid: 'later' }))
  const { look, show } = play(api.client)
  show(address)
  await look()
  assert.is(api.stored(services)[0]?.status, undefined)
})

const reasonOf = (wanted: WantedCondition) => (typeof wanted === 'object' ? wanted.reason : (wanted ?? 'none'))
testRows(
  'controllers/services/service-condition.ts',
  rows.map(([name, , wanted]) => [name, reasonOf(wanted)]),
  [
    'it is being deleted',
    'it is to be ignored',
    'it is no LoadBalancer',
    'it shows its address',
    'it has mistakes',
    'the software says why not',
    'nothing shows its address',
    'nothing is known yet',
  ],
)

test.run()
