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

const service = (metadata: object, spec: object = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    namespace: 'default',
    name: 'web',
    uid: 'u',
    finalizers: ['eip-admission.dev/address-cleanup'],
    ...metadata,
  },
  spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...spec },
  status: { loadBalancer: {} },
})

const announcer = empty({ ipAnnotation: undefined })
const sizeOf = (value: unknown) => JSON.stringify(value).length

const namesKept = (strip: (service: Service) => Service) =>
  Object.keys(strip(service({ annotations })).metadata.annotations ?? {})

test('the cache keeps no annotation of a domain that we do not read', () => {
  const kept = namesKept(keptService({ policy, announcer }))
  assert.equal(kept, Object.keys(annotations).slice(0, 9))
})

test("the cache keeps the annotations by which this cluster's announcing software withdraws", () => {
  const withdrawal = { annotations: { 'software.test/hold': 'true' }, clearsStatus: false }
  const strip = keptService({ policy, announcer: { withdrawal } })
  const kept = strip(service({ annotations: { 'software.test/hold': 'true', 'foreign.test/hold': 'true' } }))
  assert.equal(kept.metadata.annotations, { 'software.test/hold': 'true' })
})

test('the cache keeps no unknown annotation in a domain that we read, unless it is a mistake of a LoadBalancer', () => {
  const strip = keptService({ policy, announcer })
  const some = { 'metallb.io/x': 'x', 'cloud.example/misspelt': 'x', 'eip-admission.dev/adress': 'x' }
  const kept = (spec: object) => Object.keys(strip(service({ annotations: some }, spec)).metadata.annotations ?? {})
  assert.equal(kept({}), ['cloud.example/misspelt', 'eip-admission.dev/adress'])
  assert.equal(kept({ type: 'ClusterIP' }), [])
})

test('the cache keeps only the first of many mistakes', () => {
  const many = Object.fromEntries(Array.from({ length: 4_000 }, (_, n) => [`cloud.example/unknown-${n}`, '']))
  const kept = keptService({ policy, announcer })(service({ annotations: { ...many, bare: '203.0.113.7' } }))
  assert.is(Object.keys(kept.metadata.annotations ?? {}).length, 21)
  assert.is(kept.metadata.annotations?.['bare'], '203.0.113.7')
})

test('a long value is still present, and is not an address, name or location', () => {
  const strip = keptService({ policy, announcer })
  const padded = `203.0.113.7${' '.repeat(2_000)}`
  const { metadata, spec } = strip(service({ annotations: { bare: padded } }, { loadBalancerIP: padded }))
  assert.equal(metadata.annotations, { bare: '(2011 characters)' })
  assert.is(spec.loadBalancerIP, '(2011 characters)')
})

test('the cache drops unread parts of the spec, and keeps every finalizer: a patch writes all of them', () => {
  const many = Array.from({ length: 5_000 }, (_, n) => `203.0.${n >> 8}.${n & 255}/32`)
  const finalizers = [
    'service.kubernetes.io/load-balancer-cleanup',
    'tenant.example/1',
    'eip-admission.dev/balancer-cleanup',
  ]
  const unused = { selector: { app: 'x' }, externalIPs: many, loadBalancerSourceRanges: many, externalName: 'x' }
  const read = {
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1'],
    ipFamilies: ['IPv4'],
    loadBalancerClass: 'a.example/b',
  }
  const port = { name: 'http', protocol: 'TCP', port: 80, targetPort: 'http', nodePort: 30_080 }
  const ports = [{ ...port, appProtocol: 'x' }]
  const kept = keptService({ policy, announcer })(service({ finalizers }, { ...unused, ...read, ports }))
  assert.equal(kept.spec, { type: 'LoadBalancer', ...read, ports: [port] })
  assert.equal(kept.metadata.finalizers, finalizers)
})

test('a Service of any type takes little of the cache, however large its user makes it', () => {
  const names = [
    'metallb.io/x',
    'cloud.example/location',
    'eip-admission.dev/x',
    'kube-vip.io/ignore',
    'software.example/ip',
  ]
  const large = Object.fromEntries(names.map((name) => [name, 'x'.repeat(50_000)]))
  const ports = Array.from({ length: 5_000 }, (_, n) => ({ name: `p${n}`, port: n + 1, protocol: 'TCP' }))
  const strip = keptService({ policy, announcer })
  const sizes = ['ClusterIP', 'NodePort', 'ExternalName', 'LoadBalancer'].map((type) =>
    sizeOf(strip(service({ annotations: large }, type === 'LoadBalancer' ? {} : { type, ports }))),
  )
  assert.ok(
    sizes.every((size) => size < 2_000),
    sizes.join(),
  )
})

test('the cache keeps the labels of a LoadBalancer, unless they are long', () => {
  const strip = keptService({ policy, announcer })
  const kept = (labels: object, type = 'LoadBalancer') => strip(service({ labels }, { type })).metadata.labels
  assert.equal(kept({ a: 'b' }), { a: 'b' })
  assert.is(kept({ a: 'b' }, 'ClusterIP'), undefined)
  assert.is(kept(Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`l${n}`, 'x']))), undefined)
})

test('the cache keeps no owners, and changes nothing else', () => {
  const strip = keptService({ policy, announcer })
  assert.equal(strip(service({ ownerReferences: [{}] })), service({}))
  const plain = service({})
  assert.equal(strip(plain), plain)
})

test.run()
