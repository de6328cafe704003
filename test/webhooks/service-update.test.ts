import jsonPatch from 'fast-json-patch'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import type { Claim } from '../../ledger/claim/claim-spec.ts'
import { type ServiceMutatingDeps, serviceMutating } from '../../webhooks/service-mutating.ts'
import { makePolicy, makeService, metros } from '../builders.ts'

const [lost, other, forged] = ['203.0.113.40', '203.0.113.41', '192.0.2.1']
const finalizers = ['eip-admission.dev/address-cleanup']
const shownAnnotation = 'eip-admission.dev/address'
const requestAnnotation = 'metallb.io/loadBalancerIPs'

type Facts = { spec?: string | undefined; annotated?: string | undefined; more?: Record<string, string> }

/** A Service that shows these addresses in `spec.loadBalancerIP` and in our annotation. */
function showing({ spec, annotated, more = {} }: Facts): Service {
  const annotations = { ...more, ...(annotated === undefined ? {} : { [shownAnnotation]: annotated }) }
  return makeService({
    finalizers,
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    ...(spec === undefined ? {} : { loadBalancerIP: spec }),
  })
}

async function update({ before, now, held }: { before: Service; now: Service; held?: string | undefined }) {
  const claims: Claim[] = []
  let looks = 0
  const deps: ServiceMutatingDeps = {
    policy: makePolicy({ metro: 'da' }),
    locations: () => metros,
    claim: (claim) => {
      claims.push(claim)
      return Promise.resolve({ kind: 'refused', reason: 'the quota' })
    },
    families: () => ({ primary: 'IPv4' as const, isDual: false }),
    services: () => [],
    users: () => [],
    exists: () => Promise.resolve(false),
    held: () => {
      looks += 1
      return Promise.resolve(held)
    },
    previewClaim: () => Promise.resolve({ reason: 'the quota' }),
    onCloudFailure: 'deny',
    isSelf: () => false,
    otherLeader: () => undefined,
  }
  const request = { uid: 'u', operation: 'UPDATE', namespace: 'default', object: now, oldObject: before } as const
  const decision = await serviceMutating(deps).decide(request, AbortSignal.timeout(5000))
  const operations = decision.verdict === 'patch' ? (decision.patch as jsonPatch.Operation[]) : []
  const { metadata, spec } = jsonPatch.applyPatch(structuredClone(now), operations).newDocument
  const after = { spec: spec.loadBalancerIP, annotated: metadata.annotations?.[shownAnnotation] }
  return { verdict: decision.verdict, after, finalizers: metadata.finalizers, claims: claims.length, looks }
}

const both = { spec: lost, annotated: lost }
const none = { spec: undefined, annotated: undefined }
const taken = { spec: undefined, annotated: lost }

const restores: { name: string; before?: Facts; now: Facts; held?: string; after: Facts }[] = [
  { name: 'a dropped address that the ledger holds is restored', now: none, held: lost, after: both },
  {
    name: 'a dropped annotation of an address that it holds is restored',
    now: { spec: lost },
    held: lost,
    after: both,
  },
  { name: 'a dropped address that the ledger lost stays dropped', now: none, after: none },
  { name: 'an address that the controller withdraws stays withdrawn', now: taken, after: taken },
  { name: 'a lost address does not return with its annotation', before: taken, now: both, after: taken },
  { name: 'a lost address does not pass for a user-chosen one', now: { spec: lost }, after: taken },
  {
    name: 'the next address that the ledger holds takes the place of the lost one',
    now: { spec: other, annotated: other },
    held: other,
    after: { spec: other, annotated: other },
  },
  {
    name: 'a forged annotation does not become ours',
    now: { spec: forged, annotated: forged },
    after: { spec: forged, annotated: lost },
  },
]
for (const { name, before = both, now, held, after } of restores) {
  test(name, async () => {
    const result = await update({ before: showing(before), now: showing(now), held })
    assert.equal([result.after, result.finalizers, result.claims], [after, finalizers, 0])
  })
}

test('an update of a Service that shows its address does not look into the ledger', async () => {
  const { verdict, looks } = await update({ before: showing(both), now: showing({ ...both, more: { team: 'a' } }) })
  assert.equal([verdict, looks], ['allow', 0])
})

const waiting = showing({})
const edits: { name: string; now: Service; claims: number }[] = [
  { name: 'a label', now: { ...waiting, metadata: { ...waiting.metadata, labels: { team: 'a' } } }, claims: 0 },
  { name: 'a foreign annotation', now: showing({ more: { team: 'a' } }), claims: 0 },
  { name: 'other ports', now: { ...waiting, spec: { ...waiting.spec, ports: [{ port: 81 }] } }, claims: 0 },
  { name: 'the finalizer', now: makeService({}), claims: 0 },
  { name: 'the location', now: showing({ more: { 'metal.equinix.com/eip-metro': 'sv' } }), claims: 1 },
  { name: 'the reclaim policy', now: showing({ more: { 'eip-admission.dev/reclaim-policy': 'Retain' } }), claims: 1 },
  { name: 'the ElasticIP', now: showing({ more: { 'eip-admission.dev/elastic-ip': 'office' } }), claims: 1 },
  { name: 'our annotation', now: showing({ annotated: forged, spec: forged }), claims: 1 },
]
for (const { name, now, claims } of edits) {
  test(`an edit of a Service that waits for its address claims ${claims === 0 ? 'nothing' : 'one'}: ${name}`, async () => {
    const result = await update({ before: waiting, now })
    assert.equal([result.claims, result.verdict === 'deny'], [claims, claims > 0])
    assert.equal(result.finalizers, finalizers)
  })
}

test('a Service that stops requesting a user-chosen address claims one', async () => {
  const result = await update({ before: showing({ more: { [requestAnnotation]: other } }), now: waiting })
  assert.is(result.claims, 1)
})

test.run()
