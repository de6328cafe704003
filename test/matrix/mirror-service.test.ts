// The Service that routes the control-plane address to the API servers.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { endpointSlices, services } from '../../kube/resource.ts'
import { eventually } from '../whole/eventually.ts'
import { dialect } from './dialect.ts'
import { address, both, openMirrorStage, placesOf, soon } from './mirror-stage.ts'

const mirror = await openMirrorStage()
const { stage, client, namespace, name, at, apiServers, port } = mirror
const { get, slices, patch, shownIs, serveAt, settled, removed } = mirror
let product = await stage.startSwept({ env: dialect.here })

test('without an address nothing is created, and with it all of it', async () => {
  await serveAt(...both)
  const { log, setAddress } = await mirror.startMirror()
  await eventually('it has looked', () => log.some((line) => line.includes('listed')) || undefined)
  assert.is(await get(), undefined)
  setAddress(address)
  await soon('the status shows the address', () => shownIs(address))
  const { spec, metadata } = (await get())!
  assert.equal([spec.type, spec.loadBalancerIP, spec.selector], ['LoadBalancer', address, undefined])
  assert.is(spec.loadBalancerClass, 'eip-admission.dev/control-plane')
  assert.equal(spec.ports, [{ name: 'https', protocol: 'TCP', port, targetPort: port }])
  for (const domain of ['metallb.universe.tf', 'metallb.io'])
    assert.is(metadata.annotations?.[`${domain}/address-pool`], 'disabled-metallb-do-not-use-any-address-pool')
})

test('kubectl shows a person the address, the port and the API servers', async () => {
  await settled()
  const printed = await stage.run('get', 'service', name, '-n', namespace)
  assert.match(printed, new RegExp(`${name} +LoadBalancer +[0-9.]+ +203\\.0\\.113\\.77 +${port}/TCP`))
  assert.match(
    await stage.run('describe', 'service', name, '-n', namespace),
    new RegExp(`Endpoints: +10.0.0.1:${port},10.0.0.2:${port}`),
  )
})

test('its endpoints are those of the API servers word for word, and follow them', async () => {
  await settled()
  for (const servers of [['10.0.0.1', '10.0.0.2', '10.0.0.3'], ['10.0.0.3'], both]) {
    await serveAt(...servers)
    await soon(`${servers.join()} serve`, async () => placesOf(await slices()).join() === servers.join())
  }
  const source = await client.get(endpointSlices, apiServers)
  const [copy, ...others] = await slices()
  assert.is(others.length, 0)
  for (const field of ['addressType', 'endpoints', 'ports'] as const) assert.equal(copy?.[field], source?.[field])
})

test('API servers that fail are no endpoints, unless all of them do', async () => {
  const { setFailing } = await settled()
  const rows = [
    [['10.0.0.1'], ['10.0.0.2']],
    [both, both],
    [['10.0.0.2'], ['10.0.0.1']],
    [[], both],
  ]
  for (const [failing = [], left = []] of rows) {
    setFailing(failing)
    await soon(`${failing.join()} fail`, async () => placesOf(await slices()).join() === left.join())
  }
})

test('the last API server stays an endpoint while default/kubernetes shows none', async () => {
  await settled()
  await serveAt('10.0.0.9')
  await soon('it is followed', async () => placesOf(await slices()).join() === '10.0.0.9')
  await serveAt()
  await patch({ metadata: { annotations: { 'metallb.io/address-pool': null } } })
  await soon(
    'it has looked',
    async () => (await get())?.metadata.annotations?.['metallb.io/address-pool'] !== undefined,
  )
  assert.equal(placesOf(await slices()), ['10.0.0.9'])
})

const edits: { what: string; change: object; status?: boolean; isUndone: (service: Service) => unknown }[] = [
  {
    what: 'an annotation',
    change: { metadata: { annotations: { 'metallb.universe.tf/address-pool': 'public' } } },
    isUndone: ({ metadata }) => metadata.annotations?.['metallb.universe.tf/address-pool']?.startsWith('disabled'),
  },
  {
    what: 'the address in the spec',
    change: { spec: { loadBalancerIP: null } },
    isUndone: ({ spec }) => spec.loadBalancerIP === address,
  },
  { what: 'a selector', change: { spec: { selector: { app: 'mine' } } }, isUndone: ({ spec }) => !spec.selector },
  {
    what: 'the port',
    change: { spec: { ports: [{ name: 'https', port: 8443, targetPort: port }] } },
    isUndone: ({ spec }) => spec.ports?.[0]?.port === port,
  },
  {
    what: 'the type',
    change: { spec: { type: 'ClusterIP' } },
    isUndone: ({ spec, status }) =>
      spec.loadBalancerClass === 'eip-admission.dev/control-plane' &&
      status?.loadBalancer?.ingress?.[0]?.ip === address,
  },
  {
    what: 'the traffic policy',
    change: { spec: { externalTrafficPolicy: 'Local' } },
    isUndone: ({ spec }) => spec.externalTrafficPolicy === 'Cluster',
  },
  {
    what: 'the status',
    change: { status: { loadBalancer: { ingress: [] } } },
    status: true,
    isUndone: ({ status }) => status?.loadBalancer?.ingress?.[0]?.ip === address,
  },
  {
    what: 'another address in the status',
    change: { status: { loadBalancer: { ingress: [{ ip: '198.51.100.9' }, { ip: address, ipMode: 'Proxy' }] } } },
    status: true,
    isUndone: ({ status }) =>
      JSON.stringify(status?.loadBalancer?.ingress) === `[{"ip":"${address}","ipMode":"Proxy"}]`,
  },
]
for (const { what, change, status, isUndone } of edits)
  test(`a person who edits ${what} sees it undone`, async () => {
    const before = await settled()
    await patch(change, status ? 'status' : undefined)
    await soon(`${what} is undone`, async () => Boolean(isUndone((await get())!)))
    assert.is((await get())?.spec.clusterIP, before.spec.clusterIP)
  })

test('what means nothing to us stays: labels, other annotations, allowed sources, ipMode', async () => {
  await settled()
  const spec = { loadBalancerSourceRanges: ['192.0.2.0/24'] }
  await patch({ metadata: { labels: { team: 'edge' }, annotations: { note: 'mine' } }, spec })
  await patch({ status: { loadBalancer: { ingress: [{ ip: address, ipMode: 'Proxy' }] } } }, 'status')
  const before = await get()
  await serveAt('10.0.0.1', '10.0.0.4')
  await soon('it has looked', async () => placesOf(await slices()).join() === '10.0.0.1,10.0.0.4')
  assert.equal(await get(), before)
})

test('a Service that is deleted is there again, also if a finalizer of a predecessor is on it', async () => {
  for (const finalizers of [[], ['service.kubernetes.io/load-balancer-cleanup']]) {
    const { metadata } = await settled()
    await patch({ metadata: { finalizers } })
    await client.remove(services, at)
    await soon('another one shows the address', async () => {
      const now = await get()
      return now?.metadata.uid !== metadata.uid && (await shownIs(address))
    })
    await eventually('its slice is its own', async () => {
      const owners = (await slices()).map((slice) => slice.metadata.ownerReferences?.[0]?.uid)
      return owners.join() === (await get())?.metadata.uid || undefined
    })
    assert.equal(placesOf(await slices()), both)
  }
})

test('a slice that a person deletes, edits or takes from the Service is right again', async () => {
  await settled()
  const slice = { ...at, name: `${name}-1` }
  const isRight = async () => placesOf(await slices()).join() === both.join()
  await client.remove(endpointSlices, slice)
  await soon('it is there again', isRight)
  await client.patch(endpointSlices, { ...slice, patch: { merge: { endpoints: [{ addresses: ['192.0.2.66'] }] } } })
  await soon('it is right again', isRight)
  const labels = { 'kubernetes.io/service-name': 'other' }
  await client.patch(endpointSlices, { ...slice, patch: { merge: { metadata: { labels } } } })
  await soon('it is its own again', isRight)
})

test('another address at the provider is followed', async () => {
  const { setAddress } = await settled()
  setAddress('203.0.113.78')
  await soon(
    'it is shown',
    async () => (await shownIs('203.0.113.78')) && (await get())?.spec.loadBalancerIP === '203.0.113.78',
  )
  setAddress(undefined)
  await patch({ spec: { selector: { app: 'mine' } } })
  await soon('it is still guarded', async () => !(await get())?.spec.selector)
  assert.ok(await shownIs('203.0.113.78'))
})

test('another port at the address leads to the port of the API servers', async () => {
  await removed()
  const { spec } = await settled(443)
  assert.equal(spec.ports, [{ name: 'https', protocol: 'TCP', port: 443, targetPort: port }])
  assert.equal((await slices())[0]?.ports, [{ name: 'https', port, protocol: 'TCP' }])
  await settled()
  await eventually('without it, theirs', async () => (await get())?.spec.ports?.[0]?.port === port || undefined)
})

for (const flags of [[], ['--only=control-plane']])
  test(`the product keeps it for the address with its tag (serve ${flags.join(' ')})`, async () => {
    await removed()
    await serveAt(...both)
    const tag = `control-plane=${flags.length}`
    const ordered = await stage.order([tag])
    await product.stop()
    product = await stage.serve({ env: { ...dialect.here, [dialect.tagSetting ?? '']: tag }, flags })
    await eventually('it shows the address', async () => (await shownIs(ordered.address)) || undefined)
    assert.equal(placesOf(await slices()), both)
    await client.remove(services, at)
    await soon('it is there again', () => shownIs(ordered.address))
    await product.stop()
    const before = await get()
    await serveAt('10.0.0.1')
    assert.equal(await get(), before)
  })

test('without the setting the Service stays as it is, and the log reports it', async () => {
  const before = await get()
  assert.ok(before)
  product = await stage.startSwept({ env: dialect.here })
  const log = () => readFileSync(stage.logOf('eip-admission'), 'utf8')
  await eventually('the log says it', () => log().includes('no longer maintains this Service') || undefined)
  assert.equal(await get(), before)
})

test.after(async () => {
  await mirror.stopMirror()
  await product.stop()
  await stage.close()
})

test.run()
