import jsonPatch from 'fast-json-patch'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import type { ClaimResult, Claim } from '../../ledger/claim/claim-spec.ts'
import type { ClusterFamilies } from '../../ledger/want/families.ts'
import type { Want } from '../../ledger/want/want.ts'
import type { Decision, AdmissionRequest } from '../../webhooks/webhook.ts'
import { type ClaimPreview, serviceMutating } from '../../webhooks/service-mutating.ts'
import { serviceProtect, serviceStatusValidating, serviceValidating } from '../../webhooks/service-validating.ts'
import type { Policy } from '../../settings/service-policy.ts'
import { makePolicy, makeRecord, makeService, metros } from '../builders.ts'

const address = '203.0.113.40'
const finalizers = ['eip-admission.dev/address-cleanup']
const requestAnnotation = 'metallb.io/loadBalancerIPs'
const shown = { finalizers, annotations: { 'eip-admission.dev/address': address }, loadBalancerIP: address }
const held: ClaimResult = { kind: 'held', record: makeRecord({ phase: 'Reserved', address }), address }

type Facts = {
  exists?: () => boolean | undefined
  families?: ClusterFamilies
  claimed?: ClaimResult
  metro?: string
  onCloudFailure?: 'defer' | 'deny'
  heldAddress?: string
  preview?: ClaimPreview
  /** The result of the check of a user-chosen address. */
  checked?: (wanted: Want) => Want
  /** The result of the check of another program's address. */
  checkForeign?: (wanted: Want) => Want
  policy?: Policy
  /** The Services of the cluster. */
  services?: Service[]
  /** Another program that leads. */
  leader?: string
}

function deps(
  {
    claimed = held,
    metro = 'da',
    onCloudFailure = 'defer',
    exists = () => false,
    families = { primary: 'IPv4', isDual: false },
    heldAddress,
    preview = {},
    services = [],
    checked = (wanted) => wanted,
    checkForeign = checked,
    policy = makePolicy(metro ? { metro } : {}),
    leader,
  }: Facts,
  claims: Claim[] = [],
) {
  return {
    policy,
    locations: () => metros,
    claim: (claim: Claim) => {
      claims.push(claim)
      return Promise.resolve(claimed)
    },
    services: () => services,
    users: () => [],
    families: () => families,
    exists: () => Promise.resolve(exists()),
    held: () => Promise.resolve(heldAddress),
    previewClaim: () => Promise.resolve(preview),
    onCloudFailure,
    otherLeader: () => leader,
    isSelf: ({ userInfo }: Pick<AdmissionRequest, 'userInfo'>) => userInfo?.username === 'self',
    ownAddresses: { check: checked, checkForeign, refresh: () => Promise.resolve() },
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
    waits: claims.map(({ wait }) => wait),
    shown: claims.map(({ isShown }) => isShown),
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

function annotate({ metadata, ...rest }: Service, annotations: Record<string, string>): Service {
  return { ...rest, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze)
  return value
}

test('a new Service gets its address, our finalizer and our address annotation', async () => {
  const { after, claims, waits } = await mutate({})
  assert.equal(waits, [true], 'its user waits for the answer')
  assert.equal(after, makeService(shown))
  assert.equal(claims, ['default/web in da'])
})

test('if it is unknown whether a Service of the name exists, its address waits and nothing is claimed', async () => {
  const { after, claims, decision } = await mutate({}, { exists: () => undefined })
  assert.equal([claims, after.spec.loadBalancerIP, after.metadata.finalizers], [[], undefined, finalizers])
  assert.match(JSON.stringify(decision), 'the API server does not say whether a Service of this name exists')
})

test('if it is unknown whether a Service will have two families, its address waits until it is stored', async () => {
  const object = makeService({ ipFamilyPolicy: 'PreferDualStack' })
  const facts: Facts = { families: { primary: 'IPv4', isDual: undefined } }
  for (const dryRun of [false, true]) {
    const { after, claims, decision } = await mutate({ object, dryRun }, facts)
    assert.equal([claims, after.spec.loadBalancerIP, after.metadata.finalizers], [[], undefined, finalizers])
    assert.match(JSON.stringify(decision), 'when the API server has chosen the families')
  }
  assert.equal((await mutate({ object })).claims, ['default/web in da'])
})

test('a Service of the second family, or of a primary family that is IPv6, reserves nothing', async () => {
  for (const [facts, families] of [
    [{ ipFamilyPolicy: 'PreferDualStack' }, { primary: 'IPv4', isDual: true }],
    [{}, { primary: 'IPv6', isDual: false }],
  ] as const) {
    const { decision, claims } = await mutate({ object: makeService(facts) }, { families })
    assert.equal([decision.verdict, claims], ['deny', []])
  }
})

test('a Service that becomes a LoadBalancer gets an address', async () => {
  const { after } = await mutate({ oldObject: makeService({ type: 'ClusterIP' }) })
  assert.equal(after, makeService(shown))
})

test('a Service with generateName gets its name from us, and its record that name', async () => {
  const { after, claims } = await mutate({ object: makeService({ name: '', generateName: 'web-' }) })
  assert.match(after.metadata.name, /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  assert.equal(claims, [`default/${after.metadata.name} in da`])
})

test('a long generateName is cut to 63 characters, as by the API server', async () => {
  const { after } = await mutate({ object: makeService({ name: '', generateName: 'x'.repeat(70) }) })
  assert.is(after.metadata.name.length, 63)
})

test('a claim says whether the Service shows an address that the provider may already have', async () => {
  const known = makeService({ annotations: { 'eip-admission.dev/address': address } })
  assert.equal((await mutate({})).shown, [false])
  assert.equal((await mutate({ object: known })).shown, [true])
})

test('a reinvocation with our own patch applied changes nothing', async () => {
  const { decision } = await mutate({ object: makeService(shown) })
  assert.is(decision.verdict, 'allow')
})

test('an update that drops address, annotation and finalizer gets them back without a claim', async () => {
  const { after, claims } = await mutate({ oldObject: makeService(shown) }, { heldAddress: address })
  assert.equal(after, makeService(shown))
  assert.equal(claims, [])
})

test('an update of other fields changes nothing and claims nothing', async () => {
  const object = makeService({ ...shown, labels: { new: 'label' } })
  const { decision, claims } = await mutate({ object, oldObject: makeService(shown) })
  assert.equal(decision, { verdict: 'allow', warnings: [] })
  assert.equal(claims, [])
})

test('a Service that is no longer a LoadBalancer loses our address and annotation', async () => {
  const { after } = await mutate({
    object: makeService({ ...shown, type: 'ClusterIP' }),
    oldObject: makeService(shown),
  })
  assert.equal(after, makeService({ type: 'ClusterIP', finalizers, annotations: {} }))
})

test('a Service that is no longer a LoadBalancer keeps its own address', async () => {
  const own = makeService({ finalizers, loadBalancerIP: '192.0.2.1' })
  const { decision } = await mutate({
    object: makeService({ loadBalancerIP: '192.0.2.1', type: 'ClusterIP' }),
    oldObject: own,
  })
  assert.is(decision.verdict, 'allow')
})

test('a user-chosen address is kept and nothing is reserved', async () => {
  const { after, claims } = await mutate({ object: makeService({ loadBalancerIP: '192.0.2.1' }) })
  assert.equal(after, makeService({ loadBalancerIP: '192.0.2.1', finalizers }))
  assert.equal(claims, [])
})

test('a user-chosen address in a request annotation is kept and nothing is reserved', async () => {
  const annotations = { [requestAnnotation]: '192.0.2.1' }
  const { after, claims } = await mutate({ object: makeService({ annotations }) })
  assert.equal(after, makeService({ annotations, finalizers }))
  assert.equal(claims, [])
})

test('a Service with our address cannot request another one by annotation, and loses a request for the same one', async () => {
  const requesting = (own: string) =>
    makeService({ ...shown, annotations: { ...shown.annotations, [requestAnnotation]: own } })
  const refused = await validate({ object: requesting('192.0.2.1'), oldObject: makeService(shown) })
  assert.match('reason' in refused ? refused.reason : '', `annotation ${requestAnnotation}: "192.0.2.1" cannot replace`)
  const { after } = await mutate({ object: requesting(address), oldObject: makeService(shown) })
  assert.equal(after, makeService(shown))
})

test('a request annotation that we wrote for a user-chosen address is removed with that address', async () => {
  const annotations = { [requestAnnotation]: '192.0.2.1' }
  const fields = { 'f:metadata': { 'f:annotations': { [`f:${requestAnnotation}`]: {} } } }
  const managedFields = [{ manager: 'eip-admission', fieldsV1: fields }]
  const { after, claims } = await mutate({
    object: makeService({ annotations, finalizers, managedFields }),
    oldObject: makeService({ annotations, loadBalancerIP: '192.0.2.1', finalizers }),
  })
  assert.equal([after, claims], [makeService({ ...shown, managedFields }), ['default/web in da']])
})

test('a Service that is no longer a LoadBalancer loses its request annotation for our address', async () => {
  const annotations = { ...shown.annotations, [requestAnnotation]: address }
  const { after } = await mutate({
    object: makeService({ ...shown, annotations, type: 'ClusterIP' }),
    oldObject: makeService({ ...shown, annotations }),
  })
  assert.equal(after, makeService({ type: 'ClusterIP', finalizers, annotations: {} }))
})

test('a dry run warns where an address would be reserved, and claims none', async () => {
  const { decision, claims } = await mutate({ dryRun: true })
  assert.equal(claims, [])
  assert.equal('warnings' in decision && decision.warnings, ['dry run: an address in da would be reserved'])
})

test('a dry run for a Service with a record shows its address', async () => {
  const { after } = await mutate({ dryRun: true }, { heldAddress: address })
  assert.equal(after, makeService(shown))
})

test('a Service whose name is taken is left to the API server, without a claim', async () => {
  const { claims, decision } = await mutate({}, { exists: () => true })
  assert.equal([decision.verdict, claims], ['patch', []])
})

test('only a create with a name of its own asks whether that name is taken', async () => {
  const taken = { exists: () => true }
  const asked = await mutate({ oldObject: makeService({ type: 'ClusterIP' }) }, taken)
  assert.equal(asked.claims, ['default/web in da'], 'an update')
  const { claims } = await mutate({ object: makeService({ name: '', generateName: 'web-' }) }, taken)
  assert.match(claims.join(), /^default\/web-\w{5} in da$/)
})

test('a dry run is denied where a limit is reached', async () => {
  const { decision } = await mutate({ dryRun: true }, { preview: { reason: 'the limit is reached' } })
  assert.is(decision.verdict === 'deny' && decision.reason, 'Service default/web gets no address: the limit is reached')
})

test('a dry run that is denied names a Service with generateName by its prefix', async () => {
  const object = makeService({ name: '', generateName: 'web-' })
  const { decision } = await mutate({ object, dryRun: true }, { preview: { reason: 'the limit is reached' } })
  assert.match(JSON.stringify(decision), 'Service default/web-* gets no address: the limit is reached')
})

test('a denial has the message of the provider', async () => {
  const { decision } = await mutate({}, { claimed: { kind: 'refused', reason: 'Equinix Metal: quota reached' } })
  assert.equal(decision, {
    verdict: 'deny',
    because: 'forbidden',
    reason: 'Service default/web gets no address: Equinix Metal: quota reached',
  })
})

test('while the address is pending the Service is stored with the finalizer and a warning', async () => {
  const { after, decision } = await mutate({}, { claimed: { kind: 'pending', reason: 'no answer yet' } })
  assert.equal(after, makeService({ finalizers }))
  assert.equal('warnings' in decision && decision.warnings, [
    'address pending, the controller assigns it later (request u): no answer yet',
  ])
})

test('while the address is pending the Service is denied if onCloudFailure is deny', async () => {
  const pending: ClaimResult = { kind: 'pending', reason: 'no answer yet' }
  const { decision } = await mutate({}, { claimed: pending, onCloudFailure: 'deny' })
  assert.is(decision.verdict, 'deny')
})

test('several mistakes make one message', async () => {
  const annotations = { 'metal.equinix.com/eip-metro': 'xx', 'metal.equinix.com/eip-metr': 'da' }
  const { decision } = await mutate({ object: makeService({ annotations }) }, { metro: '' })
  assert.is(
    decision.verdict === 'deny' && decision.reason,
    'Service default/web: 2 mistakes:\n' +
      '  - annotation metal.equinix.com/eip-metr (value "da") is unknown; did you mean metal.equinix.com/eip-metro?\n' +
      '  - annotation metal.equinix.com/eip-metro: "xx" is not a known metro; known: da (Dallas), sv (Silicon Valley)',
  )
})

const untouched: { name: string; request: Request }[] = [
  { name: 'a Service of another class', request: { object: makeService({ loadBalancerClass: 'example.com/x' }) } },
  { name: 'an ExternalName', request: { object: makeService({ type: 'ExternalName' }) } },
  { name: 'a terminating Service', request: { oldObject: makeService({ deletionTimestamp: 'now' }) } },
  { name: 'a write of our own', request: { userInfo: { username: 'self' } } },
  { name: 'a subresource', request: { subResource: 'status' } },
  { name: 'a delete', request: { operation: 'DELETE', object: null, oldObject: makeService() } },
  { name: 'another kind', request: { object: { ...makeService(), kind: 'Pod' } as unknown as Service } },
]

for (const { name, request } of untouched) {
  test(`${name} is allowed unchanged`, async () => {
    const { decision, claims } = await mutate(request)
    assert.is(decision.verdict, 'allow')
    assert.equal(claims, [])
    assert.is((await validate(request)).verdict, 'allow')
  })
}

test('the validating webhook denies the mistakes that the mutating one denies', async () => {
  const object = makeService({ annotations: { 'metal.equinix.com/eip-metro': 'xx' } })
  const decision = await validate({ object }, { metro: '' })
  assert.match(decision.verdict === 'deny' ? decision.reason : '', '"xx" is not a known metro')
})

test('an update is not denied for a mistake that the Service had before', async () => {
  const annotations = { 'metal.equinix.com/eip-metro': 'xx' }
  const object = makeService({ annotations, labels: { new: 'label' } })
  const request = { object, oldObject: makeService({ annotations }) }
  assert.is((await validate(request, { metro: '' })).verdict, 'allow')
  assert.is((await mutate(request, { metro: '' })).decision.verdict, 'allow')
})

const chosen = (elasticIP: string, facts: Partial<typeof shown> = {}) =>
  makeService({ ...facts, annotations: { ...facts.annotations, 'eip-admission.dev/elastic-ip': elasticIP } })

test('a Service that requests an ElasticIP claims that one, without a location', async () => {
  const { claims, after } = await mutate({ object: chosen('office') }, { metro: '' })
  assert.equal([claims, after.spec.loadBalancerIP], [['default/web in office'], address])
})

test('a refused claim denies the Service with its reason', async () => {
  const claimed: ClaimResult = { kind: 'refused', reason: 'ElasticIP office is held by Service default/db' }
  const { decision } = await mutate({ object: chosen('office') }, { claimed })
  const reason = 'Service default/web gets no address: ElasticIP office is held by Service default/db'
  assert.is(decision.verdict === 'deny' && decision.reason, reason)
})

test('a dry run shows a known address, and claims nothing', async () => {
  const { claims, after } = await mutate({ object: chosen('office'), dryRun: true }, { preview: { address } })
  assert.equal([claims, after.spec.loadBalancerIP], [[], address])
})

for (const [before, now] of [
  [chosen('office', shown), chosen('other', shown)],
  [chosen('office', shown), makeService(shown)],
  [makeService(shown), chosen('office', shown)],
] as const) {
  const name = (service: Service) => service.metadata.annotations?.['eip-admission.dev/elastic-ip'] ?? 'none'
  test(`an address is not exchanged from ElasticIP ${name(before)} to ${name(now)}`, async () => {
    const decision = await validate({ object: now, oldObject: before })
    assert.match(decision.verdict === 'deny' ? decision.reason : '', 'cannot be changed: restore the annotation')
  })
}

test('a Service that has its address from an ElasticIP may be given to another program', async () => {
  const object = annotate(chosen('office', shown), { 'example.com/managed': 'false' })
  const policy = { ...makePolicy({ metro: 'da' }), managedAnnotation: 'example.com/managed' }
  assert.is((await validate({ object, oldObject: chosen('office', shown) }, { policy })).verdict, 'allow')
})

test('a Service without an address may request another ElasticIP', async () => {
  const decision = await validate({ object: chosen('other'), oldObject: chosen('office') })
  assert.is(decision.verdict, 'allow')
})

test('a Service with an address cannot change its location', async () => {
  const at = (metro: string) =>
    makeService({ ...shown, annotations: { ...shown.annotations, 'metal.equinix.com/eip-metro': metro } })
  const decision = await validate({ object: at('sv'), oldObject: at('da') }, { metro: '' })
  assert.is(
    decision.verdict === 'deny' && decision.reason,
    'Service default/web: its address 203.0.113.40 is in da and cannot move to sv: ' +
      'keep the location, or delete the Service and create it again in sv',
  )
})

test('a Service with our address cannot exchange it for its own', async () => {
  const object = makeService({ finalizers, loadBalancerIP: '192.0.2.1' })
  const decision = await validate({ object, oldObject: makeService(shown) })
  assert.match(decision.verdict === 'deny' ? decision.reason : '', '"192.0.2.1" cannot replace 203.0.113.40')
})

const kubeVipAnnotation = 'kube-vip.io/loadbalancerIPs'
const stored = { ...shown, annotations: { ...shown.annotations, [kubeVipAnnotation]: address } }
const own = { finalizers, loadBalancerIP: '192.0.2.1' }
const requests: [what: string, old: Service, object: Service, isDenied: boolean][] = [
  ['added to a Service with our address', makeService(shown), makeService(stored), true],
  [
    'added to a Service with its own address',
    makeService(own),
    makeService({ ...own, annotations: { [kubeVipAnnotation]: '192.0.2.1' } }),
    true,
  ],
  ['that was there', makeService(stored), makeService(stored), false],
  ['that is removed', makeService(stored), makeService(shown), false],
  [
    'added while there is no address',
    makeService(),
    makeService({ annotations: { [kubeVipAnnotation]: address } }),
    false,
  ],
  [
    'on a Service that becomes a LoadBalancer and had an address in its spec',
    makeService({ ...own, type: 'ClusterIP' }),
    makeService({ ...own, annotations: { [kubeVipAnnotation]: '192.0.2.1' } }),
    false,
  ],
  [
    'on a Service that becomes a LoadBalancer',
    makeService({ type: 'ClusterIP' }),
    makeService({ annotations: { [kubeVipAnnotation]: address } }),
    false,
  ],
]
for (const [what, oldObject, object, isDenied] of requests)
  test(`kube-vip: a request annotation ${what} is ${isDenied ? 'denied: the traffic would stop' : 'allowed'}`, async () => {
    const policy = {
      ...makePolicy({ metro: 'da' }),
      requestAnnotations: { annotations: [kubeVipAnnotation], besideSpec: true, stopsIfAdded: 'kube-vip' },
    }
    const request = requestOf({ object, oldObject })
    const decision = await serviceValidating({ ...deps({}), policy }).decide(request, AbortSignal.timeout(5000))
    assert.is(decision.verdict, isDenied ? 'deny' : 'allow')
    if (isDenied)
      assert.is(
        decision.verdict === 'deny' && decision.reason,
        `Service default/web: annotation ${kubeVipAnnotation}: kube-vip would treat it as a change of a Service that already has ` +
          `${oldObject.spec.loadBalancerIP}, and announce nothing until it is restarted: ` +
          'remove the annotation, spec.loadBalancerIP suffices',
      )
  })

test('an update that drops only the address annotation gets it back', async () => {
  const object = makeService({ finalizers, loadBalancerIP: address })
  const { after } = await mutate({ object, oldObject: makeService(shown) }, { heldAddress: address })
  assert.equal(after, makeService(shown))
})

const protecting = { 'eip-admission.dev/protect': 'true' }
const managedAnnotation = 'example.com/managed'
const guarded = annotate(makeService(shown), protecting)

const severalRequested = { [requestAnnotation]: '192.0.2.1,192.0.2.2' }
const losses: { what: string; object: Service; oldObject?: Service; policy?: Partial<Policy>; reason?: string }[] = [
  {
    what: 'must remain a LoadBalancer',
    object: makeService({ ...shown, type: 'ClusterIP' }),
    reason: 'its type is ClusterIP',
  },
  {
    what: 'must remain a LoadBalancer, also where it requests several addresses',
    object: makeService({ type: 'ClusterIP', annotations: severalRequested }),
    reason: 'its type is ClusterIP',
  },
  {
    what: 'cannot be given to another program',
    object: annotate(guarded, { [managedAnnotation]: 'false' }),
    reason: `annotation ${managedAnnotation} is "false"`,
  },
  {
    what: 'cannot be given to another program, also in the update that ends the protection',
    object: annotate(guarded, { [managedAnnotation]: 'false', 'eip-admission.dev/protect': 'false' }),
    reason: `annotation ${managedAnnotation} is "false"`,
  },
  {
    what: 'keeps its managed balancer where it requests several addresses',
    object: makeService({ annotations: { ...protecting, ...severalRequested } }),
    oldObject: makeService({ annotations: protecting }),
    policy: { managed: { location: 'da', setting: '', locations: metros, annotations: { id: 'id', location: 'at' } } },
    reason: `annotation ${requestAnnotation} requests several addresses`,
  },
  {
    what: 'that has no address any more may change its type',
    object: makeService({ annotations: protecting, type: 'ClusterIP' }),
    oldObject: makeService({ annotations: { ...protecting, [managedAnnotation]: 'false' } }),
  },
]
for (const { what, object, oldObject = guarded, policy = {}, reason } of losses)
  test(`a protected Service ${what}`, async () => {
    const facts = { policy: { ...makePolicy({ metro: 'da' }), managedAnnotation, ...policy } }
    const decision = await validate({ object, oldObject }, facts)
    const text =
      'Service default/web: annotation eip-admission.dev/protect: "true" protects its address, ' +
      `which it would lose because ${reason}: set eip-admission.dev/protect to "false" first`
    assert.is(decision.verdict === 'deny' ? decision.reason : undefined, reason && text)
  })

test('a Service that requests to share an address only by a key is denied, unless it shows an address', async () => {
  const sharingKey = 'metallb.io/allow-shared-ip'
  const base = makePolicy({ metro: 'da' })
  const policy = { ...base, requestAnnotations: { ...base.requestAnnotations, sharingKey } }
  const annotations = { [sharingKey]: 'dns' }
  const services = [makeService({ name: 'other', annotations })]
  const facts = { policy, services }
  for (const dryRun of [false, true]) {
    const { decision, claims } = await mutate({ object: makeService({ annotations }), dryRun }, facts)
    assert.match(decision.verdict === 'deny' ? decision.reason : '', 'is also that of Service default/other')
    assert.equal(claims, [])
  }
  assert.equal((await mutate({ object: makeService({}) }, facts)).claims, ['default/web in da'])
  // It requests the address of the other one, and needs none of ours.
  const requesting = makeService({ annotations, loadBalancerIP: '203.0.113.40' })
  const { decision } = await mutate({ object: requesting }, facts)
  assert.not.match(decision.verdict === 'deny' ? decision.reason : '', 'is also that of')
})

test('the deletion of a protected Service is denied, with the command that unprotects it', async () => {
  const request = requestOf({ operation: 'DELETE', object: null, oldObject: guarded })
  const decision = await serviceProtect(deps({})).decide(request, AbortSignal.timeout(5000))
  assert.match(
    decision.verdict === 'deny' ? decision.reason : '',
    'annotation eip-admission.dev/protect: "true"; set it to "false" first: ' +
      'kubectl annotate service -n default web eip-admission.dev/protect=false --overwrite',
  )
})

for (const { name, service } of [
  { name: 'a Service without protection', service: makeService(shown) },
  {
    name: 'a protected Service that is terminating',
    service: { ...guarded, metadata: { ...guarded.metadata, deletionTimestamp: 'now' } },
  },
]) {
  test(`${name} may be deleted`, async () => {
    const request = requestOf({ operation: 'DELETE', object: null, oldObject: service })
    assert.is((await serviceProtect(deps({})).decide(request, AbortSignal.timeout(5000))).verdict, 'allow')
  })
}

test('the protect annotation is "true" or "false"', async () => {
  const object = makeService({ annotations: { 'eip-admission.dev/protect': 'yes' } })
  const decision = await validate({ object })
  assert.match(decision.verdict === 'deny' ? decision.reason : '', '"yes" is neither "true" nor "false"')
})

async function validateStatus(object: Service) {
  const request = requestOf({ subResource: 'status', object, oldObject: makeService(shown) })
  return serviceStatusValidating(deps({ metro: '' })).decide(request, AbortSignal.timeout(5000))
}

test('a write of the status cannot set annotations against the rules', async () => {
  const annotated = (annotations: Record<string, string>) =>
    makeService({ ...shown, annotations: { ...shown.annotations, ...annotations } })
  for (const annotations of [
    { 'metal.equinix.com/eip-metr': 'da' },
    { 'eip-admission.dev/address': '192.0.2.1' },
    { 'eip-admission.dev/protect': 'maybe' },
  ]) {
    assert.is((await validateStatus(annotated(annotations))).verdict, 'deny')
  }
  const removed = await validateStatus(makeService({ ...shown, annotations: {} }))
  assert.match(removed.verdict === 'deny' ? removed.reason : '', 'only eip-admission writes it; do not remove it')
  assert.is((await validateStatus(annotated({ 'metallb.io/ip-allocated-from-pool': 'pool' }))).verdict, 'allow')
  assert.is((await validateStatus(makeService({ ...shown, status: { loadBalancer: {} } }))).verdict, 'allow')
})

const refusing = (wanted: Want): Want =>
  wanted.kind === 'own' ? { kind: 'wrong', problems: [`${wanted.address} is not yours`] } : wanted
const brought = makeService({ loadBalancerIP: '198.51.100.7' })

test('a new own address is checked, even when a Service becomes a LoadBalancer', async () => {
  const denied = { verdict: 'deny', because: 'invalid', reason: 'Service default/web: 198.51.100.7 is not yours' }
  assert.equal(await validate({ object: brought }, { checked: refusing }), denied)
  assert.equal(await validate({ object: brought, dryRun: true }, { checked: refusing }), denied)
  const oldObject = makeService({ loadBalancerIP: '198.51.100.7', type: 'ClusterIP' })
  assert.equal(await validate({ object: brought, oldObject }, { checked: refusing }), denied)
})

test('a user-chosen address that is stored already passes', async () => {
  const object = makeService({ loadBalancerIP: '198.51.100.7', labels: { team: 'web' } })
  assert.equal(await validate({ object, oldObject: brought }, { checked: refusing }), {
    verdict: 'allow',
    warnings: [],
  })
})

// A setting of the operator made it wrong after it was stored: no update is denied for that.
const wrong = { 'eip-admission.dev/reclaim-policy': 'Keep' }
const storedWrong = makeService({ ...shown, annotations: { ...shown.annotations, ...wrong } })
const taken = '198.51.100.7'

test('a user-chosen address is checked even if a Service is as wrong as before, whether it calls the address ours or not', async () => {
  const oldObject = makeService({ annotations: wrong })
  for (const object of [
    makeService({ annotations: wrong, loadBalancerIP: taken }),
    makeService({ annotations: { ...wrong, [requestAnnotation]: taken } }),
    makeService({ annotations: { ...wrong, 'eip-admission.dev/address': taken }, loadBalancerIP: taken }),
  ])
    assert.match(JSON.stringify(await validate({ object, oldObject }, { checked: refusing })), `${taken} is not yours`)
  const object = makeService({ annotations: wrong, loadBalancerIP: taken })
  assert.is((await validate({ object, oldObject: object }, { checked: refusing })).verdict, 'allow')
})

test('a Service with our address that is as wrong as before cannot exchange it for its own', async () => {
  const annotations = storedWrong.metadata.annotations ?? {}
  for (const object of [
    makeService({ ...shown, annotations, loadBalancerIP: taken }),
    makeService({ ...shown, annotations: { ...annotations, [requestAnnotation]: taken } }),
    makeService({ ...shown, annotations: { ...wrong, 'eip-admission.dev/address': taken }, loadBalancerIP: taken }),
  ]) {
    const decision = await validate({ object, oldObject: storedWrong })
    assert.match(JSON.stringify(decision), `\\"${taken}\\" cannot replace ${address}`)
  }
  assert.is((await validate({ object: storedWrong, oldObject: storedWrong })).verdict, 'allow')
})

test('an update that drops our address from a Service that is as wrong as before gets it back', async () => {
  const object = makeService({ annotations: wrong })
  const { after, claims } = await mutate({ object, oldObject: storedWrong }, { heldAddress: address })
  assert.equal([after, claims], [storedWrong, []])
})

test('a Service that is as wrong as before gets no address by calling it ours', async () => {
  const annotations = { ...wrong, 'eip-admission.dev/address': taken }
  const object = makeService({ annotations, loadBalancerIP: taken })
  const { after } = await mutate({ object, oldObject: makeService({ annotations: wrong }) })
  assert.equal(after, makeService({ annotations: wrong }))
})

test('a Service that is as wrong as before keeps a user-chosen address that an update calls ours', async () => {
  for (const stored of [
    makeService({ annotations: wrong, loadBalancerIP: taken }),
    makeService({ annotations: { ...wrong, [requestAnnotation]: taken } }),
  ]) {
    const annotations = { ...stored.metadata.annotations, 'eip-admission.dev/address': taken }
    const object = { ...stored, metadata: { ...stored.metadata, annotations } }
    const { after } = await mutate({ object, oldObject: stored })
    assert.equal(after, stored)
  }
})

test('an address that a Service in deletion requests again is checked, and nothing else of it', async () => {
  const going = { deletionTimestamp: 'now', finalizers: ['example.com/held'] }
  const annotations = { 'eip-admission.dev/address': taken }
  const cases: [now: Service, before: Service][] = [
    [makeService({ ...going, loadBalancerIP: taken }), makeService({ ...shown, ...going })],
    [makeService({ ...going, annotations: { [requestAnnotation]: taken } }), makeService(going)],
    [makeService({ ...going, annotations, loadBalancerIP: taken }), makeService({ ...going, annotations })],
    [
      makeService({ ...going, loadBalancerIP: taken }),
      makeService({ ...going, type: 'ClusterIP', loadBalancerIP: taken }),
    ],
  ]
  for (const [object, oldObject] of cases) {
    const decision = await validate({ object, oldObject }, { checked: refusing })
    assert.match(JSON.stringify(decision), `${taken} is not yours`)
    assert.is((await validate({ object: oldObject, oldObject }, { checked: refusing })).verdict, 'allow')
  }
  const mistaken = makeService({ deletionTimestamp: 'now', annotations: wrong, loadBalancerIP: address })
  const oldObject = makeService({ ...shown, ...going })
  assert.is((await validate({ object: mistaken, oldObject }, { checked: refusing })).verdict, 'allow')
})

test('an address in an annotation is checked even beside a user-chosen address in the spec', async () => {
  const stored = makeService({ loadBalancerIP: '198.51.100.8' })
  const cases = [
    [taken, `${taken} is not yours`],
    ['web.example.com', 'web.example.com\\" is not an IP address'],
  ]
  for (const [value = '', reason = ''] of cases) {
    const object = makeService({ loadBalancerIP: '198.51.100.8', annotations: { [requestAnnotation]: value } })
    for (const oldObject of [stored, null]) {
      const checked = (wanted: Want) => (wanted.kind === 'own' && wanted.address === taken ? refusing(wanted) : wanted)
      assert.match(JSON.stringify(await validate({ object, oldObject }, { checked })), reason)
    }
    assert.is((await validate({ object, oldObject: object }, { checked: refusing })).verdict, 'allow')
  }
})

test('an address that is requested from another program is checked as that program’s', async () => {
  const policy: Policy = { ...makePolicy({ metro: 'da' }), managedAnnotation: 'example.com/managed' }
  const annotations = { 'example.com/managed': 'false' }
  const handed = makeService({ annotations, loadBalancerIP: taken })
  const ours = makeService({ loadBalancerIP: taken })
  const isAllowed = async (request: Request, facts: Facts) =>
    (await validate(request, { policy, ...facts })).verdict === 'allow'
  const allowing = (wanted: Want) => wanted
  const foreignOnly: Facts = { checked: refusing, checkForeign: allowing }
  const oursOnly: Facts = { checked: allowing, checkForeign: refusing }
  assert.ok(await isAllowed({ object: handed }, foreignOnly))
  assert.not(await isAllowed({ object: handed }, oursOnly))
  assert.ok(await isAllowed({ object: handed, oldObject: handed }, oursOnly), 'it is stored already')
  assert.not(await isAllowed({ object: ours, oldObject: handed }, foreignOnly), 'it is ours again')
  const named = makeService({ annotations: { ...annotations, [requestAnnotation]: 'web.example.com' } })
  assert.not(await isAllowed({ object: named }, foreignOnly))
  const byDhcp = { loadBalancerIP: '0.0.0.0' }
  const asked = makeService({ annotations, ...byDhcp })
  assert.ok(await isAllowed({ object: asked }, oursOnly), 'kube-vip asks a DHCP server')
  assert.not(await isAllowed({ object: makeService(byDhcp), oldObject: asked }, foreignOnly))
})

test('each of several addresses is checked, where no other class serves the Service', async () => {
  const each = (wanted: Want): Want =>
    wanted.kind === 'own' && wanted.address.includes(':')
      ? { kind: 'wrong', problems: [`${wanted.where} ${wanted.address}`] }
      : wanted
  const annotations = { [requestAnnotation]: '198.51.100.7, 2001:DB8::7' }
  const denied = await validate({ object: makeService({ annotations }) }, { checked: each })
  assert.match(JSON.stringify(denied), `annotation ${requestAnnotation} 2001:db8::7`)
  const stored = makeService({ annotations })
  assert.is((await validate({ object: stored, oldObject: stored }, { checked: each })).verdict, 'allow')
  const classed = makeService({ annotations, loadBalancerClass: 'example.com/other' })
  assert.is((await validate({ object: classed }, { checked: each })).verdict, 'allow')
  const many = makeService({ annotations: { [requestAnnotation]: Array(17).fill('198.51.100.7').join() } })
  assert.match(JSON.stringify(await validate({ object: many })), 'requests 17 addresses: request at most 16')
})

test('an address that a Service copied does not stay while its own is pending', async () => {
  const claimed: ClaimResult = { kind: 'pending', reason: 'the provider is slow' }
  const { after } = await mutate({ object: makeService(shown) }, { claimed })
  assert.is(after.spec.loadBalancerIP, undefined)
})

test('a user-chosen address that we cannot check yet passes with a warning', async () => {
  const checked = (wanted: Want): Want =>
    wanted.kind === 'own' ? { ...wanted, doubt: { reason: 'unknown', isDecided: false } } : wanted
  assert.equal(await validate({ object: brought }, { checked }), { verdict: 'allow', warnings: ['unknown'] })
})

test.run()
