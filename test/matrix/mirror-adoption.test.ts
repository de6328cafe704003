// The Service of the control-plane address that a predecessor left, with its Endpoints.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Endpoints, Service } from '../../kube/objects.ts'
import { endpoints, events, services } from '../../kube/resource.ts'
import { eventually } from '../whole/eventually.ts'
import { dialect } from './dialect.ts'
import { address, both, openMirrorStage, placesOf, soon } from './mirror-stage.ts'

const mirror = await openMirrorStage()
const { stage, client, namespace, name, at, port, get, slices, patch, shownIs, serveAt, settled, removed } = mirror
const product = await stage.startSwept({ env: dialect.here })

/** Creates the Service as a predecessor leaves it, with the finalizer of its service controller. */
async function predecessor(): Promise<Service> {
  await removed()
  await serveAt('10.0.0.1')
  await client.create(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      ...at,
      finalizers: ['service.kubernetes.io/load-balancer-cleanup'],
      annotations: { 'metallb.universe.tf/address-pool': 'disabled-metallb-do-not-use-any-address-pool' },
    },
    spec: { type: 'LoadBalancer', loadBalancerIP: address, ports: [{ name: 'https', port, targetPort: port }] },
  })
  const left: Endpoints = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: at,
    subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ name: 'https', port, protocol: 'TCP' }] }],
  }
  await client.create(endpoints, left)
  await patch({ status: { loadBalancer: { ingress: [{ ip: address }] } } }, 'status')
  await eventually(
    'Kubernetes makes slices of it',
    async () => placesOf(await slices()).join() === '10.0.0.1' || undefined,
  )
  return (await get())!
}

test('what a predecessor left is left alone by our webhooks and our other controllers', async () => {
  const left = await predecessor()
  const { calls } = stage.cloud.control
  calls.clear()
  await patch({ metadata: { labels: { touched: 'yes' } } })
  await stage.create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'after-the-mirror' },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  })
  await stage.settled('after-the-mirror')
  const now = (await get())!
  const {
    metadata: { annotations, finalizers },
    spec,
    status,
  } = left
  assert.equal([now.metadata.annotations, now.metadata.finalizers], [annotations, finalizers])
  assert.equal([now.spec, now.status], [spec, status])
  assert.is(await stage.record(name, namespace), undefined)
  assert.is(calls.count('POST'), 1)
})

test('what a predecessor left is adopted as it is, and no endpoint is there twice', async () => {
  const left = await predecessor()
  await settled()
  await eventually(
    'it has both annotations',
    async () => (await get())?.metadata.annotations?.['metallb.io/address-pool'] !== undefined || undefined,
  )
  const { metadata, spec } = (await get())!
  assert.equal([metadata.uid, spec], [left.metadata.uid, left.spec])
  assert.ok(spec.ports?.[0]?.nodePort)
  for (const servers of [['10.0.0.1', '10.0.0.2', '10.0.0.3'], ['10.0.0.2']]) {
    await serveAt(...servers)
    await soon(`${servers.join()} serve, each once`, async () => placesOf(await slices()).join() === servers.join())
    const { subsets } = (await client.get(endpoints, at))!
    assert.equal(
      subsets?.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip)),
      servers,
    )
  }
  assert.ok((await slices()).every((slice) => !slice.metadata.name.endsWith('-1')))
})

test('when a person deletes the Endpoints of a predecessor, slices of ours take their place', async () => {
  await predecessor()
  await settled()
  await client.remove(endpoints, at)
  await eventually('ours are there alone', async () => {
    const names = (await slices()).map((slice) => slice.metadata.name)
    return names.join() === `${name}-1` || undefined
  })
  assert.equal(placesOf(await slices()), both)
})

test('Endpoints that come later, and are not mirrored, change nothing; mirrored ones replace our slices', async () => {
  await removed()
  await settled()
  const later: Endpoints = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { ...at, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    subsets: [{ addresses: [{ ip: '10.0.0.66' }], ports: [{ name: 'https', port }] }],
  }
  await client.create(endpoints, later)
  await soon('they are put right', async () => {
    const { subsets } = (await client.get(endpoints, at))!
    return subsets?.[0]?.addresses?.map(({ ip }) => ip).join() === both.join()
  })
  assert.equal(
    (await slices()).map((slice) => slice.metadata.name),
    [`${name}-1`],
  )
  const labels = { 'endpointslice.kubernetes.io/skip-mirror': null }
  await client.patch(endpoints, { ...at, patch: { merge: { metadata: { labels } } } })
  await eventually('each is there once, from the mirroring controller', async () => {
    const all = await slices()
    const isOurs = all.some((slice) => slice.metadata.name === `${name}-1`)
    return (!isOurs && placesOf(all).join() === both.join()) || undefined
  })
})

test('with a program that wipes the status again and again we do not fight, and a person learns what to do', async () => {
  await predecessor()
  await settled()
  const startedMs = performance.now()
  const passedMs = () => performance.now() - startedMs
  const advice =
    /keeps reverting the address in its status.*delete this Service: eip-admission immediately creates it again/
  let wiped = 0
  await eventually('an Event says what to do, and the program continues', async (observe) => {
    if (await shownIs(address)) {
      await patch({ status: { loadBalancer: { ingress: [] } } }, 'status')
      wiped += 1
    }
    const { items } = await client.list(events, { namespace })
    const contested = observe(items).filter(({ reason }) => reason === 'MirrorServiceContested')
    return (passedMs() > 8_000 && contested.some(({ message }) => advice.test(message))) || undefined
  })
  assert.ok(wiped >= 3 && wiped <= 7 + passedMs() / 10_000, `${wiped} repairs in ${passedMs()} ms`)
  await serveAt('10.0.0.5')
  await soon('API servers are followed meanwhile', async () => placesOf(await slices()).join() === '10.0.0.5')
  await eventually('afterwards it is right', async () => (await shownIs(address)) || undefined, 15_000)
})

test.after(async () => {
  await mirror.stopMirror()
  await product.stop()
  await stage.close()
})

test.run()
