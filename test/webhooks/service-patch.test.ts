import fc from 'fast-check'
import jsonPatch from 'fast-json-patch'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { softwareOf } from '../../announcers/announcers.ts'
import type { LoadBalancer } from '../../announcers/setting.ts'
import type { Service } from '../../kube/objects.ts'
import { poolWarnings, removalWarnings, type ServiceChange, servicePatch } from '../../webhooks/service-patch.ts'
import { makePolicy, makeService } from '../builders.ts'

const cases: { name: string; service: Service; change: ServiceChange; patch: object[] }[] = [
  {
    name: 'a patch adds annotations and finalizers where the Service has none',
    service: makeService(),
    change: { finalizer: 'a/b', annotations: { 'c/d': '1' }, loadBalancerIP: '192.0.2.1' },
    patch: [
      { op: 'add', path: '/spec/loadBalancerIP', value: '192.0.2.1' },
      { op: 'add', path: '/metadata/finalizers', value: ['a/b'] },
      { op: 'add', path: '/metadata/annotations', value: { 'c/d': '1' } },
    ],
  },
  {
    name: 'a patch keeps the finalizers and annotations of others, and appends ours',
    service: makeService({ finalizers: ['x/y'], annotations: { k: 'v' } }),
    change: { finalizer: 'a/b', annotations: { 'c/d': '1' } },
    patch: [
      { op: 'add', path: '/metadata/annotations/c~1d', value: '1' },
      { op: 'add', path: '/metadata/finalizers/1', value: 'a/b' },
    ],
  },
  {
    name: 'a change that is already made needs no patch',
    service: makeService({ finalizers: ['a/b'], annotations: { 'c/d': '1' }, loadBalancerIP: '192.0.2.1' }),
    change: { name: 'web', finalizer: 'a/b', annotations: { 'c/d': '1' }, loadBalancerIP: '192.0.2.1' },
    patch: [],
  },
  {
    name: 'the removal of an absent field needs no patch',
    service: makeService(),
    change: { annotations: { 'c/d': undefined }, loadBalancerIP: undefined },
    patch: [],
  },
  {
    name: 'a patch removes present fields',
    service: makeService({ annotations: { 'c/d': '1' }, loadBalancerIP: '192.0.2.1' }),
    change: { annotations: { 'c/d': undefined }, loadBalancerIP: undefined },
    patch: [
      { op: 'remove', path: '/spec/loadBalancerIP' },
      { op: 'remove', path: '/metadata/annotations/c~1d' },
    ],
  },
]

for (const { name, service, change, patch } of cases) {
  test(name, () => assert.equal(servicePatch(service, change), patch))
}

test('a pool that a user newly chooses causes a warning if the announcing software uses it', () => {
  const choosing = (pool: string) => makeService({ annotations: { 'metallb.io/address-pool': pool } })
  const says = (service: Service, old: Service | null, chosen: LoadBalancer) => {
    const policy = makePolicy({ metro: 'da' })
    const requestAnnotations = softwareOf(chosen)?.requests(chosen) ?? policy.requestAnnotations
    return poolWarnings(service, old, { ...policy, requestAnnotations })
  }
  const objects: LoadBalancer = { kind: 'metallb-crd', namespace: 'm', peerMode: 'native' }
  const document: LoadBalancer = { kind: 'metallb-configmap', namespace: 'm', name: 'config' }
  const [warning = '', ...others] = says(choosing('mailserver'), null, objects)
  assert.match(warning, /^annotation metallb\.io\/address-pool: "mailserver" chooses a pool.* remove the annotation$/)
  assert.equal(others, [])
  assert.is(says(choosing('mailserver'), choosing('other'), objects).length, 1)
  assert.equal(says(choosing('mailserver'), choosing('mailserver'), objects), [], 'it is no news')
  assert.equal(says(makeService(), null, objects), [])
  assert.equal(says(choosing('mailserver'), null, document), [], 'that MetalLB ignores it')
})

test('every patch can be applied, makes the change, and keeps everything else', () => {
  const names = fc.stringMatching(/^[a-z~/]{1,8}$/).filter((name) => name !== '__proto__')
  const maps = fc.dictionary(names, fc.string(), { noNullPrototype: true })
  const change = fc.record(
    { annotations: maps, finalizer: names, loadBalancerIP: fc.option(fc.ipV4(), { nil: undefined }) },
    { requiredKeys: [] },
  )
  const service = fc
    .record({ annotations: maps, finalizers: fc.array(names), loadBalancerIP: fc.ipV4() }, { requiredKeys: [] })
    .map(makeService)
  fc.assert(
    fc.property(service, change, (before, wanted) => {
      const operations = servicePatch(before, wanted)
      const after = jsonPatch.applyPatch(structuredClone(before), operations as jsonPatch.Operation[], true).newDocument
      for (const [name, value] of Object.entries(wanted.annotations ?? {})) {
        assert.is(after.metadata.annotations?.[name], value)
      }
      for (const [name, value] of Object.entries(before.metadata.annotations ?? {})) {
        if (!Object.hasOwn(wanted.annotations ?? {}, name)) assert.is(after.metadata.annotations?.[name], value)
      }
      const { finalizers = [] } = before.metadata
      assert.equal(after.metadata.finalizers?.slice(0, finalizers.length) ?? [], finalizers)
      if (wanted.finalizer) assert.ok(after.metadata.finalizers?.includes(wanted.finalizer))
      if ('loadBalancerIP' in wanted) assert.is(after.spec.loadBalancerIP, wanted.loadBalancerIP)
      assert.equal(servicePatch(after, wanted), [])
    }),
  )
})

const requested = 'metallb.io/loadBalancerIPs'
const removed = { op: 'remove', path: '/metadata/annotations/metallb.io~1loadBalancerIPs' } as const
const removals: [
  name: string,
  old: Service | null,
  operations: Parameters<typeof removalWarnings>[2],
  count: number,
][] = [
  ['that a user newly wrote', makeService(), [removed], 1],
  ['of a create', null, [removed], 1],
  ['that the stored Service has already', makeService({ annotations: { [requested]: '192.0.2.1' } }), [removed], 0],
  ['that the patch replaces', makeService(), [{ ...removed, op: 'replace', value: '192.0.2.2' }], 0],
  ['that the patch leaves', makeService(), [{ op: 'remove', path: '/metadata/annotations/other' }], 0],
]
for (const [name, old, operations, count] of removals)
  test(`a removed annotation ${name} is ${count ? 'a warning' : 'no warning'}`, () => {
    const warnings = removalWarnings(makeService({ annotations: { [requested]: '192.0.2.1' } }), old, operations)
    assert.is(warnings.length, count)
    if (count) assert.match(warnings[0] ?? '', /^annotation metallb\.io\/loadBalancerIPs: "192\.0\.2\.1" is removed/)
  })

test.run()
