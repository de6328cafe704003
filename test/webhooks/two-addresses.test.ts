import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KubeError } from '../../kube/errors.ts'
import type { Service } from '../../kube/objects.ts'
import type { Claim, ClaimResult } from '../../ledger/claim/claim-spec.ts'
import type { ClusterFamilies } from '../../ledger/want/families.ts'
import type { ClaimPreview } from '../../webhooks/service-mutating.ts'
import { serviceMutating } from '../../webhooks/service-mutating.ts'
import { serviceValidating } from '../../webhooks/service-validating.ts'
import type { Policy } from '../../settings/service-policy.ts'
import { makePolicy, makeRecord, makeService } from '../builders.ts'

const address = '203.0.113.40'
const held: ClaimResult = { kind: 'held', record: makeRecord({ phase: 'Reserved', address }), address }
const refused: ClaimResult = { kind: 'refused', reason: 'the provider has no more' }
const pending: ClaimResult = { kind: 'pending', reason: 'the provider is slow' }
const unreachable = new KubeError('connect ECONNREFUSED', { status: 0, reason: 'Unreachable' })
const required = { ipFamilyPolicy: 'RequireDualStack' } as const
const prefers = { ipFamilyPolicy: 'PreferDualStack' } as const
const dual: ClusterFamilies = { primary: 'IPv4', isDual: true }
const policy: Policy = {
  ...makePolicy({ metro: 'da' }),
  families: ['ipv4', 'ipv6'],
  isDualStack: true,
  matchesFamilies: false,
}

type Facts = {
  first?: ClaimResult
  second?: ClaimResult | Error
  families?: ClusterFamilies
  onCloudFailure?: 'defer' | 'deny'
  preview?: ClaimPreview
  dryRun?: boolean
  /** The Service as it is stored. */
  old?: Service
}

async function review(service: Service, facts: Facts = {}) {
  const {
    first = held,
    second = held,
    families = dual,
    onCloudFailure = 'defer',
    preview = {},
    dryRun = false,
    old,
  } = facts
  const claimed: string[] = []
  const of = ({ key, family }: Claim) => {
    claimed.push(`${key} ${family}`)
    return key.includes('.')
  }
  const webhook = serviceMutating({
    policy,
    locations: () => undefined,
    families: () => families,
    services: () => [],
    users: () => [],
    claim(claim) {
      const result = of(claim) ? second : first
      return result instanceof Error ? Promise.reject(result) : Promise.resolve(result)
    },
    held: () => Promise.resolve(undefined),
    exists: () => Promise.resolve(false),
    previewClaim: (claim) => Promise.resolve(of(claim) ? preview : {}),
    onCloudFailure,
    isSelf: () => false,
    otherLeader: () => undefined,
  })
  const request = {
    uid: 'u',
    operation: old ? 'UPDATE' : 'CREATE',
    namespace: 'default',
    object: service,
    oldObject: old ?? null,
    dryRun,
  } as const
  const decision = await webhook.decide(request, AbortSignal.timeout(5_000))
  const texts = decision.verdict === 'deny' ? [decision.reason] : (decision.warnings ?? [])
  return { verdict: decision.verdict, text: texts.join(' | '), claimed }
}

const both = ['default/web ipv4', 'default/web.ipv6 ipv6']
const cases: { name: string; spec: Parameters<typeof makeService>[0]; facts?: Facts; verdict: string; text: RegExp }[] =
  [
    { name: 'that requires two and gets both', spec: required, verdict: 'patch', text: /^$/ },
    { name: 'that prefers two and gets both', spec: prefers, verdict: 'patch', text: /^$/ },
    {
      name: 'that requires two, the second refused',
      spec: required,
      facts: { second: refused },
      verdict: 'deny',
      text: /^Service default\/web gets no IPv6 address, and spec.ipFamilyPolicy "RequireDualStack" requires two: the provider has no more$/,
    },
    {
      name: 'that prefers two, the second refused',
      spec: prefers,
      facts: { second: refused },
      verdict: 'patch',
      text: /^no IPv6 address, the controller tries again later: the provider has no more$/,
    },
    {
      name: 'that requires two, the second slow',
      spec: required,
      facts: { second: pending },
      verdict: 'patch',
      text: /^IPv6 address pending, the controller assigns it later: the provider is slow$/,
    },
    {
      name: 'that requires two, the second slow, where nothing may wait',
      spec: required,
      facts: { second: pending, onCloudFailure: 'deny' },
      verdict: 'deny',
      text: /requires two: the provider is slow/,
    },
    {
      name: 'that prefers two, the second slow, where nothing may wait',
      spec: prefers,
      facts: { second: pending, onCloudFailure: 'deny' },
      verdict: 'patch',
      text: /^IPv6 address pending/,
    },
    {
      name: 'that requires two, the first refused',
      spec: required,
      facts: { first: refused },
      verdict: 'deny',
      text: /^Service default\/web gets no address: the provider has no more$/,
    },
    {
      name: 'that requires two, in a dry run',
      spec: required,
      facts: { dryRun: true },
      verdict: 'patch',
      text: /an address in da would be reserved \| dry run: an IPv6 address would be reserved as well/,
    },
    {
      name: 'that requires two beyond a limit, in a dry run',
      spec: required,
      facts: { dryRun: true, preview: { reason: 'the limit' } },
      verdict: 'deny',
      text: /gets no IPv6 address.*: the limit$/,
    },
  ]
for (const { name, spec, facts, verdict, text } of cases) {
  test(`a Service ${name}: ${verdict}`, async () => {
    const decided = await review(makeService(spec), facts)
    assert.is(decided.verdict, verdict)
    assert.match(decided.text, text)
    assert.equal(decided.claimed, both)
  })
}

const showsFirst = { annotations: { 'eip-admission.dev/address': address }, loadBalancerIP: address }
const seconds: { second: ClaimResult; policy: object; verdict: string; text: RegExp }[] = [
  { second: held, policy: required, verdict: 'allow', text: /^$/ },
  { second: refused, policy: prefers, verdict: 'allow', text: /^no IPv6 address/ },
  { second: refused, policy: required, verdict: 'deny', text: /^Service default\/web gets no IPv6 address/ },
]
for (const { second, policy, verdict, text } of seconds)
  test(`an update by which a Service ${JSON.stringify(policy)} wants a second, ${second.kind}: ${verdict}`, async () => {
    const finalizers = ['eip-admission.dev/address-cleanup']
    const old = makeService({ ...showsFirst, finalizers })
    const decided = await review(makeService({ ...showsFirst, finalizers, ...policy }), { second, old })
    assert.equal([decided.verdict, decided.claimed], [verdict, ['default/web.ipv6 ipv6']])
    assert.match(decided.text, text)
  })

test('the second address comes later if the API server fails, but our own mistake is not hidden', async () => {
  const { verdict, text } = await review(makeService(prefers), { second: unreachable })
  assert.equal(
    [verdict, text],
    ['patch', 'IPv6 address pending, the controller assigns it later: connect ECONNREFUSED'],
  )
  const mistake = new TypeError('no function')
  assert.is(await review(makeService(prefers), { second: mistake }).catch((error: unknown) => error), mistake)
})

test('a Service that requires two is left to the API server of a cluster with one family, and nothing is claimed', async () => {
  assert.equal((await review(makeService(required), { families: { primary: 'IPv4', isDual: false } })).claimed, [])
})

test('a Service that prefers two gets one if the cluster has one, or that is unknown', async () => {
  for (const isDual of [false, undefined])
    assert.equal((await review(makeService(prefers), { families: { primary: 'IPv4', isDual } })).claimed, [
      'default/web ipv4',
    ])
})

test('a protected Service does not give up one of its two addresses', async () => {
  const annotations = { 'eip-admission.dev/protect': 'true', 'eip-admission.dev/address': address }
  const oldObject = makeService({ ...required, ipFamilies: ['IPv4', 'IPv6'], annotations, loadBalancerIP: address })
  const spec = { ...oldObject.spec, ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] } satisfies Service['spec']
  const object = { ...oldObject, spec }
  const ownAddresses = {
    check: <T>(wanted: T) => wanted,
    checkForeign: <T>(wanted: T) => wanted,
    refresh: () => Promise.resolve(),
  }
  const webhook = serviceValidating({ policy, locations: () => undefined, ownAddresses, isSelf: () => false })
  const request = { uid: 'u', operation: 'UPDATE', namespace: 'default', object, oldObject } as const
  const decision = await webhook.decide(request, AbortSignal.timeout(5_000))
  assert.match(
    JSON.stringify(decision),
    /protects its addresses, and it would lose the IPv6 one: set the annotation to .{1,2}false.{1,2} first/,
  )
})

test.run()
