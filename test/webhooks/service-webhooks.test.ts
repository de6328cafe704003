import jsonPatch from 'fast-json-patch'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import type { ClaimResult } from '../../ledger/claim/claim-spec.ts'
import type { Claim } from '../../ledger/claim/claim-spec.ts'
import type { Decision } from '../../webhooks/decision.ts'
import type { AdmissionRequest } from '../../webhooks/review.ts'
import { type ClaimPreview, serviceMutating } from '../../webhooks/service-mutating.ts'
import { serviceProtect } from '../../webhooks/service-protect.ts'
import { serviceStatusValidating, serviceValidating } from '../../webhooks/service-validating.ts'
import { makePolicy, makeRecord, makeService, metros } from '../builders.ts'

const address = '203.0.113.40'
const finalizers = ['eip-admission.dev/address-cleanup']
const asking = 'metallb.io/loadBalancerIPs'
const shown = { finalizers, annotations: { 'eip-admission.dev/address': address }, loadBalancerIP: address }
const held: ClaimResult = { kind: 'held', record: makeRecord({ phase: 'Reserved', address }), address }

type Facts = {
  claimed?: ClaimResult
  metro?: string
  onCloudFailure?: 'defer' | 'deny'
  heldAddress?: string
  foreseen?: ClaimPreview
}

function deps(
  { claimed = held, metro = 'da', onCloudFailure = 'defer', heldAddress, foreseen = {} }: Facts,
  claims: Claim[] = [],
) {
  return {
    policy: makePolicy(metro ? { metro } : {}),
    locations: () => metros,
    claim: (claim: Claim) => {
      claims.push(claim)
      return Promise.resolve(claimed)
    },
    held: () => Promise.resolve(heldAddress),
    previewClaim: () => Promise.resolve(foreseen),
    onCloudFailure,
    isSelf: (user: string) => user === 'self',
  }
}

type Request = Partial<AdmissionRequest<Service>>

function requestOf(request: Request): AdmissionRequest<Service> {
  const { object = makeService(), oldObject = null } = request
  const operation = oldObject ? 'UPDATE' : 'CREATE'
  return deepFreeze({ uid: 'u', operation, namespace: 'default', ...request, object, oldObject })
}

async function mutate(request: Request, facts: Facts = {}) {
  const claims: Claim[] = []
  const signal = AbortSignal.timeout(5000)
  const full = requestOf(request)
  const decision = await serviceMutating(deps(facts, claims)).decide(full, signal)
  return {
    decision,
    claims: claims.map(({ key, location, elasticIP }) => `${key} in ${elasticIP ?? location}`),
    after: after(full, decision),
  }
}

async function validate(request: Request, facts: Facts = {}) {
  return serviceValidating(deps(facts)).decide(requestOf(request), AbortSignal.timeout(5000))
}

function after({ object }: AdmissionRequest<Service>, decision: Decision): Service {
  const operations = decision.verdict === 'patch' ? decision.patch : []
  return jsonPatch.applyPatch(structuredClone(object as Service), operations as jsonPatch.Operation[], true).newDocument
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze)
  return value
}

test('a new Service gets its address, our finalizer and the mark that the address is ours', async () => {
  const { after, claims } = await mutate({})
  assert.equal(after, makeService(shown))
  assert.equal(claims, ['default/web in da'])
})

test('a Service that becomes a LoadBalancer gets one too', async () => {
  const { after } = await mutate({ oldObject: makeService({ type: 'ClusterIP' }) })
  assert.equal(after, makeService(shown))
})

test('a Service with generateName is named by us, so that its reservation has a name', async () => {
  const { after, claims } = await mutate({ object: makeService({ name: '', generateName: 'web-' }) })
  assert.match(after.metadata.name, /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  assert.equal(claims, [`default/${after.metadata.name} in da`])
})

test('a long generateName is cut as the API server cuts it', async () => {
  const { after } = await mutate({ object: makeService({ name: '', generateName: 'x'.repeat(70) }) })
  assert.is(after.metadata.name.length, 63)
})

test('seen a second time, with our own patch applied, it is left as it is', async () => {
  const { decision } = await mutate({ object: makeService(shown) })
  assert.is(decision.verdict, 'allow')
})

test('an update that drops address, annotation and finalizer gets them back, without asking anybody', async () => {
  const { after, claims } = await mutate({ oldObject: makeService(shown) })
  assert.equal(after, makeService(shown))
  assert.equal(claims, [])
})

test('an update that touches nothing of ours changes nothing and asks nobody', async () => {
  const object = makeService({ ...shown, labels: { new: 'label' } })
  const { decision, claims } = await mutate({ object, oldObject: makeService(shown) })
  assert.equal(decision, { verdict: 'allow', warnings: [] })
  assert.equal(claims, [])
})

test('a Service that leaves LoadBalancer stops showing our address', async () => {
  const { after } = await mutate({
    object: makeService({ ...shown, type: 'ClusterIP' }),
    oldObject: makeService(shown),
  })
  assert.equal(after, makeService({ type: 'ClusterIP', finalizers, annotations: {} }))
})

test('a Service that leaves LoadBalancer keeps an address that was its own', async () => {
  const own = makeService({ finalizers, loadBalancerIP: '192.0.2.1' })
  const { decision } = await mutate({
    object: makeService({ loadBalancerIP: '192.0.2.1', type: 'ClusterIP' }),
    oldObject: own,
  })
  assert.is(decision.verdict, 'allow')
})

test('an own address is kept and nothing is reserved', async () => {
  const { after, claims } = await mutate({ object: makeService({ loadBalancerIP: '192.0.2.1' }) })
  assert.equal(after, makeService({ loadBalancerIP: '192.0.2.1', finalizers }))
  assert.equal(claims, [])
})

test('so is one that the announcing software is asked for', async () => {
  const annotations = { [asking]: '192.0.2.1' }
  const { after, claims } = await mutate({ object: makeService({ annotations }) })
  assert.equal(after, makeService({ annotations, finalizers }))
  assert.equal(claims, [])
})

test('a Service that has an address of ours cannot ask for another by annotation, and need not ask for that one', async () => {
  const asks = (own: string) => makeService({ ...shown, annotations: { ...shown.annotations, [asking]: own } })
  const refused = await validate({ object: asks('192.0.2.1'), oldObject: makeService(shown) })
  assert.match('reason' in refused ? refused.reason : '', `annotation ${asking}: "192.0.2.1" cannot take the place of`)
  const { after } = await mutate({ object: asks(address), oldObject: makeService(shown) })
  assert.equal(after, makeService(shown))
})

test('what the announcing software was told of an own address goes with it', async () => {
  const before = makeService({ annotations: { [asking]: '192.0.2.1' }, loadBalancerIP: '192.0.2.1', finalizers })
  const { after, claims } = await mutate({
    object: makeService({ annotations: { [asking]: '192.0.2.1' }, finalizers }),
    oldObject: before,
  })
  assert.equal([after, claims], [makeService(shown), ['default/web in da']])
})

test('a Service that leaves LoadBalancer asks for our address no more', async () => {
  const annotations = { ...shown.annotations, [asking]: address }
  const { after } = await mutate({
    object: makeService({ ...shown, annotations, type: 'ClusterIP' }),
    oldObject: makeService({ ...shown, annotations }),
  })
  assert.equal(after, makeService({ type: 'ClusterIP', finalizers, annotations: {} }))
})

test('a dry run says where an address would be, and asks for none', async () => {
  const { decision, claims } = await mutate({ dryRun: true })
  assert.equal(claims, [])
  assert.equal('warnings' in decision && decision.warnings, ['dry run: an address in da would be reserved'])
})

test('a dry run for a Service that the ledger knows shows its address', async () => {
  const { after } = await mutate({ dryRun: true }, { heldAddress: address })
  assert.equal(after, makeService(shown))
})

test('a dry run is refused where a limit is reached', async () => {
  const { decision } = await mutate({ dryRun: true }, { foreseen: { reason: 'the limit is reached' } })
  assert.is(decision.verdict === 'deny' && decision.reason, 'Service default/web gets no address: the limit is reached')
})

test('a refusal of the cloud is told in its own words', async () => {
  const { decision } = await mutate({}, { claimed: { kind: 'refused', reason: 'Equinix Metal: quota reached' } })
  assert.equal(decision, {
    verdict: 'deny',
    because: 'refusal',
    reason: 'Service default/web gets no address: Equinix Metal: quota reached',
  })
})

test('while the cloud is slow the Service is stored, with the finalizer and a warning', async () => {
  const { after, decision } = await mutate({}, { claimed: { kind: 'pending', reason: 'no answer yet' } })
  assert.equal(after, makeService({ finalizers }))
  assert.equal('warnings' in decision && decision.warnings, [
    'address pending, it follows in the background: no answer yet',
  ])
})

test('unless the operator would rather refuse it', async () => {
  const pending: ClaimResult = { kind: 'pending', reason: 'no answer yet' }
  const { decision } = await mutate({}, { claimed: pending, onCloudFailure: 'deny' })
  assert.is(decision.verdict, 'deny')
})

test('several mistakes are one message', async () => {
  const annotations = { 'metal.equinix.com/eip-metro': 'xx', 'metal.equinix.com/eip-metr': 'da' }
  const { decision } = await mutate({ object: makeService({ annotations }) }, { metro: '' })
  assert.is(
    decision.verdict === 'deny' && decision.reason,
    'Service default/web: 2 mistakes:\n' +
      '  - annotation metal.equinix.com/eip-metr: "da" is not known, did you mean metal.equinix.com/eip-metro?\n' +
      '  - annotation metal.equinix.com/eip-metro: "xx" is not a known metro; known: da (Dallas), sv (Silicon Valley)',
  )
})

const untouched: { name: string; request: Request }[] = [
  { name: 'a Service of another class', request: { object: makeService({ loadBalancerClass: 'example.com/x' }) } },
  { name: 'an ExternalName', request: { object: makeService({ type: 'ExternalName' }) } },
  { name: 'a terminating Service', request: { oldObject: makeService({ deletionTimestamp: 'now' }) } },
  { name: 'what we write ourselves', request: { userInfo: { username: 'self' } } },
  { name: 'a subresource', request: { subResource: 'status' } },
  { name: 'a delete', request: { operation: 'DELETE', object: null, oldObject: makeService() } },
  { name: 'another kind', request: { object: { ...makeService(), kind: 'Pod' } as unknown as Service } },
]

for (const { name, request } of untouched) {
  test(`${name} passes untouched`, async () => {
    const { decision, claims } = await mutate(request)
    assert.is(decision.verdict, 'allow')
    assert.equal(claims, [])
    assert.is((await validate(request)).verdict, 'allow')
  })
}

test('the validating webhook refuses what the mutating one refuses', async () => {
  const object = makeService({ annotations: { 'metal.equinix.com/eip-metro': 'xx' } })
  const decision = await validate({ object }, { metro: '' })
  assert.match(decision.verdict === 'deny' ? decision.reason : '', '"xx" is not a known metro')
})

test('a mistake that was there before does not stop an update', async () => {
  const annotations = { 'metal.equinix.com/eip-metro': 'xx' }
  const object = makeService({ annotations, labels: { new: 'label' } })
  const request = { object, oldObject: makeService({ annotations }) }
  assert.is((await validate(request, { metro: '' })).verdict, 'allow')
  assert.is((await mutate(request, { metro: '' })).decision.verdict, 'allow')
})

const chosen = (elasticIP: string, facts: Partial<typeof shown> = {}) =>
  makeService({ ...facts, annotations: { ...facts.annotations, 'eip-admission.dev/elastic-ip': elasticIP } })

test('a Service that names an ElasticIP claims that one, and nothing in a location', async () => {
  const { claims, after } = await mutate({ object: chosen('office') }, { metro: '' })
  assert.equal([claims, after.spec.loadBalancerIP], [['default/web in office'], address])
})

test('what it cannot have is refused with the reason', async () => {
  const claimed: ClaimResult = { kind: 'refused', reason: 'ElasticIP office is held by Service default/db' }
  const { decision } = await mutate({ object: chosen('office') }, { claimed })
  const reason = 'Service default/web gets no address: ElasticIP office is held by Service default/db'
  assert.is(decision.verdict === 'deny' && decision.reason, reason)
})

test('a dry run shows the address that it would have, and claims nothing', async () => {
  const { claims, after } = await mutate({ object: chosen('office'), dryRun: true }, { foreseen: { address } })
  assert.equal([claims, after.spec.loadBalancerIP], [[], address])
})

for (const [before, now] of [
  [chosen('office', shown), chosen('other', shown)],
  [chosen('office', shown), makeService(shown)],
  [makeService(shown), chosen('office', shown)],
] as const) {
  const name = (service: Service) => service.metadata.annotations?.['eip-admission.dev/elastic-ip'] ?? 'none'
  test(`a live address is not exchanged from ${name(before)} to ${name(now)}`, async () => {
    const decision = await validate({ object: now, oldObject: before })
    assert.match(
      decision.verdict === 'deny' ? decision.reason : '',
      'cannot be exchanged: leave the annotation as it was',
    )
  })
}

test('who has chosen otherwise before there was an address may choose again', async () => {
  const decision = await validate({ object: chosen('other'), oldObject: chosen('office') })
  assert.is(decision.verdict, 'allow')
})

test('a live address does not move to another location', async () => {
  const at = (metro: string) =>
    makeService({ ...shown, annotations: { ...shown.annotations, 'metal.equinix.com/eip-metro': metro } })
  const decision = await validate({ object: at('sv'), oldObject: at('da') }, { metro: '' })
  assert.is(
    decision.verdict === 'deny' && decision.reason,
    'Service default/web: its address 203.0.113.40 is in da and cannot move to sv: ' +
      'leave the location as it is, or delete the Service and create it there',
  )
})

test('a live address is not exchanged for another', async () => {
  const object = makeService({ finalizers, loadBalancerIP: '192.0.2.1' })
  const decision = await validate({ object, oldObject: makeService(shown) })
  assert.match(decision.verdict === 'deny' ? decision.reason : '', '"192.0.2.1" cannot take the place of 203.0.113.40')
})

test('an update that drops only the annotation gets it back', async () => {
  const object = makeService({ finalizers, loadBalancerIP: address })
  const { after } = await mutate({ object, oldObject: makeService(shown) })
  assert.equal(after, makeService(shown))
})

const guarded = makeService({
  ...shown,
  annotations: { ...shown.annotations, 'eip-admission.dev/protect': 'true' },
})

test('a protected Service does not leave LoadBalancer', async () => {
  const object = makeService({ ...shown, type: 'ClusterIP' })
  const decision = await validate({ object, oldObject: guarded })
  assert.match(decision.verdict === 'deny' ? decision.reason : '', 'set the annotation to "false" first')
})

test('a protected Service is not deleted, and its owner is told how', async () => {
  const request = requestOf({ operation: 'DELETE', object: null, oldObject: guarded })
  const decision = await serviceProtect(deps({})).decide(request, AbortSignal.timeout(5000))
  assert.match(
    decision.verdict === 'deny' ? decision.reason : '',
    'kubectl annotate service -n default web eip-admission.dev/protect=false --overwrite',
  )
})

for (const { name, service } of [
  { name: 'a Service that nobody protects', service: makeService(shown) },
  {
    name: 'a protected one that is going already',
    service: { ...guarded, metadata: { ...guarded.metadata, deletionTimestamp: 'now' } },
  },
]) {
  test(`${name} may be deleted`, async () => {
    const request = requestOf({ operation: 'DELETE', object: null, oldObject: service })
    assert.is((await serviceProtect(deps({})).decide(request, AbortSignal.timeout(5000))).verdict, 'allow')
  })
}

test('the protection is said in one of two words', async () => {
  const object = makeService({ annotations: { 'eip-admission.dev/protect': 'yes' } })
  const decision = await validate({ object })
  assert.match(decision.verdict === 'deny' ? decision.reason : '', '"yes" is neither "true" nor "false"')
})

async function validateStatus(object: Service) {
  const request = requestOf({ subResource: 'status', object, oldObject: makeService(shown) })
  return serviceStatusValidating(deps({ metro: '' })).decide(request, AbortSignal.timeout(5000))
}

test('a status write does not smuggle annotations past the rules', async () => {
  const annotated = (annotations: Record<string, string>) =>
    makeService({ ...shown, annotations: { ...shown.annotations, ...annotations } })
  for (const annotations of [
    { 'metal.equinix.com/eip-metr': 'da' },
    { 'eip-admission.dev/address': '192.0.2.1' },
    { 'eip-admission.dev/protect': 'maybe' },
  ]) {
    assert.is((await validateStatus(annotated(annotations))).verdict, 'deny')
  }
  assert.is((await validateStatus(annotated({ 'metallb.io/ip-allocated-from-pool': 'pool' }))).verdict, 'allow')
  assert.is((await validateStatus(makeService({ ...shown, status: { loadBalancer: {} } }))).verdict, 'allow')
})

test.run()
