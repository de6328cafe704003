import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { empty } from '../../announcers/empty.ts'
import type { Service } from '../../kube/objects.ts'
import { keptService } from '../../ledger/caches.ts'

const policy = {
  annotations: { known: ['cloud.example/location'], prefixes: ['cloud.example/', 'eip-admission.dev/'] },
  requestAnnotations: { annotations: ['software.example/ip', 'bare'], besideSpec: true },
  locationSources: [{ kind: 'annotation' as const, word: 'place', name: 'place.example/code' }],
}

const annotations = {
  'cloud.example/location': 'da',
  'cloud.example/misspelt': 'kept, for it is a mistake',
  'eip-admission.dev/address': '203.0.113.7',
  'software.example/ip': '203.0.113.7',
  bare: '203.0.113.7',
  'place.example/code': 'da',
  'metallb.universe.tf/address-pool': 'ours',
  'metallb.io/loadBalancerIPs': '203.0.113.7',
  'kube-vip.io/loadbalancerIPs': '203.0.113.7',
  'foreign.example/notes': 'x'.repeat(200_000),
  foreign: 'x',
}

const service = (metadata: object): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'default', name: 'web', uid: 'u', finalizers: ['f'], ...metadata },
  spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  status: { loadBalancer: {} },
})

const namesKept = (strip: (service: Service) => Service) =>
  Object.keys(strip(service({ annotations })).metadata.annotations ?? {})

test('the cache keeps no annotation of a domain that we do not read', () => {
  const kept = namesKept(keptService({ policy, announcer: empty({ ipAnnotation: undefined }) }))
  assert.equal(kept, Object.keys(annotations).slice(0, 9))
})

test('the cache keeps what the announcing software of this cluster withdraws by', () => {
  const withdrawal = { annotations: { 'software.test/hold': 'true' }, clearsStatus: false }
  const strip = keptService({ policy, announcer: { request: () => ({ annotations: {} }), withdrawal } })
  const kept = strip(service({ annotations: { 'software.test/hold': 'true', 'foreign.test/hold': 'true' } }))
  assert.equal(kept.metadata.annotations, { 'software.test/hold': 'true' })
})

test('the cache keeps neither labels nor owners, and changes nothing else', () => {
  const strip = keptService({ policy, announcer: empty({ ipAnnotation: undefined }) })
  assert.equal(strip(service({ labels: { a: 'b' }, ownerReferences: [{}] })), service({}))
  const plain = service({})
  assert.equal(strip(plain), plain)
})

test.run()
