// Changes by others in the mirror Service between our look and our write.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { silencingAnnotations } from '../../../announcers/announcers.ts'
import { sliceName } from '../../../controllers/control-plane/mirror-objects.ts'
import {
  type MirrorServiceOptions,
  apiServerService,
  mirrorService,
} from '../../../controllers/control-plane/mirror-service.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { isConflict } from '../../../kube/errors.ts'
import { type EndpointSlice, type Ingress, type Service, type ServicePort, splitKey } from '../../../kube/objects.ts'
import { endpointSlices, services } from '../../../kube/resource.ts'
import { makeService } from '../../builders.ts'
import { failureOf } from '../../clouds/scripted-server.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { type Hooks, interposed } from '../../fakes/interposed.ts'
import { silentLog } from '../../fakes/log.ts'

const { signal } = new AbortController()
const key = 'kube-system/external'
const address = '203.0.113.77'
const port = { name: 'https', protocol: 'TCP', port: 6443, targetPort: 6443 } as const

/** The mirror Service, as it should be in all other respects. */
const makeMirror = (facts: { ports?: ServicePort[]; shown?: Ingress[] }): Service =>
  makeService({
    ...splitKey(key),
    annotations: silencingAnnotations,
    loadBalancerIP: address,
    ports: facts.ports ?? [port],
    status: { loadBalancer: { ingress: facts.shown ?? [{ ip: address }] } },
  })

const mirrorBy = (client: KubeClient, options: Partial<MirrorServiceOptions> = {}) =>
  mirrorService({
    client,
    address: { current: () => address },
    port: undefined,
    failing: { has: () => false },
    events: { record() {} },
    now: () => 0,
    log: silentLog,
    ...options,
  })

const sourceService = makeService({ ...splitKey(apiServerService), type: 'ClusterIP', ports: [{ ...port, port: 443 }] })

/** The mirror Service after two reconciles, where somebody changes it before the first write of the first one. */
async function mirrorAfter(before: Service, changed: Service): Promise<Service | undefined> {
  const api = apiServer()
  api.put(services, sourceService)
  api.put(services, before)
  const hooks: Hooks = {
    before({ verb }) {
      if (verb !== 'patch') return
      hooks.before = undefined
      api.put(services, changed)
    },
  }
  const mirror = mirrorBy(interposed(api.client, hooks))
  assert.ok(isConflict(await failureOf(mirror.reconcile(key, signal))))
  await mirror.reconcile(key, signal)
  return api.client.get(services, splitKey(key))
}

test('a node port that a person changes while we change the port stays', async () => {
  const was = { ...port, port: 443, nodePort: 30_443 }
  const changed = makeMirror({ ports: [{ ...was, nodePort: 31_443 }] })
  const mirror = await mirrorAfter(makeMirror({ ports: [was] }), changed)
  assert.equal(mirror?.spec.ports, [{ ...port, nodePort: 31_443 }])
})

test('an address that another program shows with its mode while we write it stays as it is', async () => {
  const shown: Ingress[] = [{ ip: address, ipMode: 'VIP' }]
  const mirror = await mirrorAfter(makeMirror({ shown: [] }), makeMirror({ shown }))
  assert.equal(mirror?.status?.loadBalancer?.ingress, shown)
})

const sliceOf = (facts: Pick<EndpointSlice, 'metadata' | 'addressType'> & Partial<EndpointSlice>): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  endpoints: [{ addresses: ['10.0.0.1'] }],
  ...facts,
})
const labelsOf = (service: string) => ({ 'kubernetes.io/service-name': service })
const ofSource = { ...splitKey(apiServerService), labels: labelsOf('kubernetes') }

test('an API server that fails and recovers for minutes is followed, and no other program is blamed', async () => {
  const api = apiServer()
  api.put(services, sourceService)
  api.put(services, makeMirror({}))
  const both = [{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'] }]
  api.put(endpointSlices, sliceOf({ metadata: ofSource, addressType: 'IPv4', endpoints: both }))
  // Those of other Services in both namespaces.
  const dns = sliceOf({ metadata: { ...splitKey('kube-system/dns'), labels: labelsOf('dns') }, addressType: 'IPv4' })
  api.put(endpointSlices, dns)
  api.put(endpointSlices, sliceOf({ ...dns, metadata: { ...splitKey('default/web'), labels: labelsOf('web') } }))
  let isDown = false
  const blamed: string[] = []
  const mirror = mirrorBy(api.client, {
    failing: { has: (one) => isDown && one === '10.0.0.2' },
    events: { record: (_service, { message }) => blamed.push(message) },
  })
  for (let n = 0; n < 40; n++) {
    isDown = !isDown
    await mirror.reconcile(key, signal)
    const slice = api.stored(endpointSlices).find(({ metadata }) => metadata.name === sliceName('external', 0))
    assert.is(slice?.endpoints?.length, isDown ? 1 : 2)
  }
  const names = api.stored(endpointSlices).map(({ metadata }) => metadata.name)
  assert.equal(names.toSorted(), ['dns', 'external-1', 'kubernetes', 'web'])
  assert.equal(blamed, [])
})

for (const [loadBalancerClass, advice] of [
  [undefined, 'delete this Service'],
  ['example.com/other', 'find out which program it is'],
] as const)
  test(`a program that wipes the status of a mirror ${loadBalancerClass ? 'with a class' : 'without a class'}: ${advice}`, async () => {
    const api = apiServer()
    const wiped = makeMirror({ shown: [] })
    const spec = { ...wiped.spec, ...(loadBalancerClass && { loadBalancerClass }) }
    api.put(services, sourceService)
    const told: string[] = []
    const mirror = mirrorBy(api.client, {
      events: { record: (_service, { message }) => told.push(message) },
    })
    for (let n = 0; n < 7; n++) {
      api.put(services, { ...wiped, spec })
      await mirror.reconcile(key, signal)
    }
    assert.is(told.length, 1)
    assert.match(told[0] ?? '', advice)
  })

test('a slice that another replica replaces while we remove it stays', async () => {
  const api = apiServer()
  api.put(services, sourceService)
  api.put(services, makeMirror({}))
  api.put(endpointSlices, sliceOf({ metadata: ofSource, addressType: 'IPv4' }))
  const metadata = { ...splitKey(key), name: sliceName('external', 0) }
  // The type of a slice cannot be changed, so both replicas remove this one.
  api.put(endpointSlices, sliceOf({ metadata: { ...metadata, uid: 'before' }, addressType: 'IPv6' }))
  const replacement = sliceOf({ metadata: { ...metadata, uid: 'after' }, addressType: 'IPv4' })
  const hooks: Hooks = {
    before: ({ verb }) => void (verb === 'remove' && api.put(endpointSlices, replacement)),
  }
  assert.ok(isConflict(await failureOf(mirrorBy(interposed(api.client, hooks)).reconcile(key, signal))))
  assert.ok(api.stored(endpointSlices).some(({ metadata: { uid } }) => uid === 'after'))
})

test.run()
