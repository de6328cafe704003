// Admission of Services that a managed balancer of the cloud serves.
import jsonPatch from 'fast-json-patch'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import type { ManagedPolicy } from '../../settings/service-policy.ts'
import { type Want, want } from '../../ledger/want/want.ts'
import { isWanted } from '../../ledger/want/wanted.ts'
import type { Decision } from '../../webhooks/webhook.ts'
import { type ServiceMutatingDeps, serviceMutating } from '../../webhooks/service-mutating.ts'
import { serviceValidating } from '../../webhooks/service-validating.ts'
import { makePolicy, makeRecord, makeService, metros } from '../builders.ts'

const annotations = { id: 'equinix.com/loadbalancerID', location: 'equinix.com/loadbalancerMetro' }
const managed: ManagedPolicy = { location: 'da', setting: 'METAL_LOAD_BALANCER', locations: metros, annotations }
const policy = { ...makePolicy({}), managed }
const finalizers = ['eip-admission.dev/balancer-cleanup']
const request = 'eip-admission.dev/balancer-request'
const never = () => Promise.reject(new Error('the ledger was asked'))

const deps = {
  policy,
  locations: () => metros,
  claim: never,
  exists: never,
  services: () => [],
  users: () => [],
  families: () => ({ primary: 'IPv4' as const, isDual: false }),
  held: never,
  previewClaim: never,
  onCloudFailure: 'defer' as const,
  isSelf: () => false,
  otherLeader: (): string | undefined => undefined,
  ownAddresses: { check: (wanted: Want) => wanted, checkForeign: (wanted: Want) => wanted, refresh: never },
}

type Review = { object?: Service; old?: Service; dryRun?: boolean }

function reviewOf({ object = makeService(), old, dryRun = false }: Review) {
  const operation = old ? ('UPDATE' as const) : ('CREATE' as const)
  return { uid: 'u', operation, namespace: 'default', object, oldObject: old ?? null, dryRun }
}

async function mutate(
  review: Review,
  given: ServiceMutatingDeps = deps,
): Promise<{ decision: Decision; after: Service }> {
  const full = reviewOf(review)
  const decision = await serviceMutating(given).decide(full, AbortSignal.timeout(5000))
  const operations = decision.verdict === 'patch' ? decision.patch : []
  return { decision, after: jsonPatch.applyPatch(structuredClone(full.object), operations).newDocument }
}

const warningsOf = (decision: Decision) => ('warnings' in decision ? decision.warnings : [])

test('a Service gets the finalizer of its balancer, and nothing of the ledger', async () => {
  const { after, decision } = await mutate({})
  assert.equal(after.metadata.finalizers, finalizers)
  assert.equal(
    [after.spec.loadBalancerIP, after.metadata.annotations, warningsOf(decision)],
    [undefined, undefined, []],
  )
})

test('a Service without a LoadBalancer gets nothing', async () => {
  assert.equal((await mutate({ object: makeService({ type: 'ClusterIP' }) })).decision.verdict, 'allow')
})

test('a dry run says what would be created, once', async () => {
  const warning = 'dry run: a managed load balancer in da would be created'
  assert.equal(warningsOf((await mutate({ dryRun: true })).decision), [warning])
  const old = makeService({ finalizers })
  assert.equal(warningsOf((await mutate({ object: old, old, dryRun: true })).decision), [])
})

test('an update keeps both while another setting gives the Service an address', async () => {
  const given = { ...deps, policy: makePolicy({ metro: 'da' }), held: () => Promise.resolve('203.0.113.40') }
  const old = makeService({
    finalizers: [...finalizers, 'eip-admission.dev/address-cleanup'],
    annotations: { [request]: 'r', 'eip-admission.dev/address': '203.0.113.40' },
    loadBalancerIP: '203.0.113.40',
  })
  for (const object of [makeService(), makeService({ type: 'ClusterIP' })]) {
    const { after } = await mutate({ object, old }, given)
    assert.ok(after.metadata.finalizers?.includes('eip-admission.dev/balancer-cleanup'))
    assert.is(after.metadata.annotations?.[request], 'r')
  }
})

test('an update keeps the finalizer and the note of a request, whatever it sends', async () => {
  const old = makeService({ finalizers, annotations: { [request]: 'r', other: 'x' } })
  for (const object of [
    makeService(),
    makeService({ annotations: { [request]: 'forged' } }),
    makeService({ type: 'ClusterIP' }),
  ]) {
    const { after } = await mutate({ object, old })
    assert.equal([after.metadata.finalizers, after.metadata.annotations?.[request]], [finalizers, 'r'])
  }
})

test('only we write the note of a request', async () => {
  const { after } = await mutate({ object: makeService({ annotations: { [request]: 'forged' } }) })
  assert.is(after.metadata.annotations?.[request], undefined)
})

test('a Service that is no longer a LoadBalancer loses an address from an earlier setting', async () => {
  const shown = { annotations: { 'eip-admission.dev/address': '203.0.113.40' }, loadBalancerIP: '203.0.113.40' }
  const { after } = await mutate({ object: makeService({ ...shown, type: 'ClusterIP' }), old: makeService(shown) })
  assert.equal([after.spec.loadBalancerIP, after.metadata.annotations], [undefined, {}])
})

const wrongs: { name: string; facts: Parameters<typeof makeService>[0]; spec?: object; problem: RegExp }[] = [
  {
    name: 'UDP',
    facts: { ports: [{ port: 80 }, { port: 53, protocol: 'UDP' }] },
    problem: /^spec\.ports\[1\]\.protocol: "UDP" for port 53: .* TCP only; remove the port/,
  },
  { name: 'SCTP', facts: { ports: [{ port: 9, protocol: 'SCTP' }] }, problem: /^spec\.ports\[0\]\.protocol: "SCTP"/ },
  { name: 'IPv6', facts: { ipFamilies: ['IPv6'] }, problem: /^spec\.ipFamilies: "IPv6"/ },
  { name: 'two families', facts: { ipFamilyPolicy: 'RequireDualStack' }, problem: /^spec\.ipFamilyPolicy/ },
  { name: 'no node ports', facts: {}, spec: { allocateLoadBalancerNodePorts: false }, problem: /sends to node ports/ },
  {
    name: 'an unknown metro',
    facts: { annotations: { [annotations.location]: 'fr' } },
    problem: /"fr" is not one of da \(Dallas\), sv \(Silicon Valley\)$/,
  },
  {
    name: 'an ElasticIP',
    facts: { annotations: { 'eip-admission.dev/elastic-ip': 'mine' } },
    problem: /elastic-ip: "mine": a managed load balancer has its own addresses/,
  },
  {
    name: 'a misspelled annotation',
    facts: { annotations: { 'eip-admission.dev/protected': 'true' } },
    problem: /did you mean eip-admission\.dev\/protect\?/,
  },
]
for (const { name, facts, spec, problem } of wrongs) {
  test(`${name} is denied by both webhooks, and an update that does not introduce it passes`, async () => {
    const plain = makeService(facts)
    const object = { ...plain, spec: { ...plain.spec, ...spec } }
    const wanted = want(object, policy, metros)
    assert.is(wanted.kind, 'wrong')
    assert.match(wanted.kind === 'wrong' ? (wanted.problems[0] ?? '') : '', problem)
    const validating = serviceValidating(deps)
    const verdicts = [
      (await mutate({ object })).decision,
      await validating.decide(reviewOf({ object }), AbortSignal.timeout(5000)),
    ]
    assert.equal(
      verdicts.map(({ verdict }) => verdict),
      ['deny', 'deny'],
    )
    assert.is.not((await mutate({ object, old: object })).decision.verdict, 'deny')
  })
}

test('new requests that a managed balancer does not fulfil cause warnings', async () => {
  const object = makeService({
    loadBalancerIP: '198.51.100.7',
    annotations: { 'metal.equinix.com/eip-metro': 'sv', 'eip-admission.dev/reclaim-policy': 'Retain' },
  })
  const warnings = warningsOf((await mutate({ object })).decision)
  assert.equal(warnings?.length, 3)
  assert.match(
    warnings?.[0] ?? '',
    'eip-metro: "sv" has no effect, the load balancer is a managed one (METAL_LOAD_BALANCER, in da)',
  )
  assert.match(warnings?.[2] ?? '', 'spec.loadBalancerIP: "198.51.100.7" has no effect')
  assert.equal(warningsOf((await mutate({ object, old: object })).decision), [])
})

test('a Service of another class, an excluded one and the mirror Service are not managed', () => {
  const kind = (service: Service, more = {}) => want(service, { ...policy, ...more }, metros).kind
  assert.is(kind(makeService({ loadBalancerClass: 'example.com/other' })), 'foreign')
  assert.is(kind(makeService(), { excludedNamespaces: ['default'] }), 'ignored')
  assert.is(kind(makeService(), { controlPlaneService: 'default/web' }), 'ignored')
  assert.is(kind(makeService(), { loadBalancing: false }), 'ignored')
  assert.is(kind(makeService()), 'managed')
})

test('an address of the ledger is no longer wanted', () => {
  const record = makeRecord({ phase: 'Bound', address: '203.0.113.40' })
  assert.is(isWanted(record, { kind: 'managed', location: 'da', warnings: [] }), false)
})

test.run()
