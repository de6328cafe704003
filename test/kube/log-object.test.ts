import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { KubeObject } from '../../kube/objects.ts'
import { objectText } from '../../kube/log.ts'
import { makeRecord, makeService } from '../builders.ts'

const last = 'kubectl.kubernetes.io/last-applied-configuration'
const parsed = (answer: unknown) => JSON.parse(objectText(answer) ?? 'null') as KubeObject

test('Services and ElasticIPs are logged whole, without who wrote which field', () => {
  const service = makeService({ annotations: { 'eip-admission.dev/address': '203.0.113.40' } })
  const stored = { ...service, metadata: { ...service.metadata, managedFields: [{ manager: 'kubectl' }] } }
  assert.equal(parsed(stored), service)
  assert.equal(parsed(makeRecord({ phase: 'Bound' })), makeRecord({ phase: 'Bound' }))
})

test('annotations that may hold a secret are named, and their values are not shown', () => {
  const secrets = { [last]: '{"hidden":1}', 'example.com/db-password': 'hidden', 'example.com/api-key': 'hidden' }
  const text = objectText(makeService({ annotations: { ...secrets, 'example.com/owner': 'team' } })) ?? ''
  assert.not.match(text, 'hidden')
  for (const word of [...Object.keys(secrets), 'team']) assert.match(text, word)
})

test('no annotation of a Node is shown: operators name the one with the BGP password', () => {
  const metadata = { name: 'a', annotations: { 'example.com/bgp-0': 'hidden' } }
  assert.not.match(objectText({ apiVersion: 'v1', kind: 'Node', metadata }) ?? '', 'hidden')
})

test('kinds that may hold a secret, lists and other answers are not logged', () => {
  const metadata = { name: 'a' }
  const kinds = ['Secret', 'ConfigMap', 'BGPPeer', 'MutatingWebhookConfiguration', 'ServiceList', 'Status']
  for (const kind of kinds) assert.is(objectText({ apiVersion: 'v1', kind, metadata }), undefined, kind)
  for (const answer of [undefined, null, 'text', {}]) assert.is(objectText(answer), undefined)
})

test('a large object is cut', () => {
  const text = objectText(makeService({ annotations: { 'example.com/large': 'x'.repeat(200_000) } })) ?? ''
  assert.ok(text.length < 9_000)
  assert.match(text, /… \(\d+ characters\)$/)
})

test.run()
