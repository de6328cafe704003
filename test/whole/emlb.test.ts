// Equinix Metal's managed load balancers: a Service is served by a balancer of the cloud, without addresses of the ledger.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { equinixMetalBalancers } from '../../clouds/equinix-metal/balancers/client.ts'
import { Secret } from '../../lib/secret.ts'
import { events, nodes as nodeResource } from '../../kube/resource.ts'
import { kubectlOf } from '../../sandbox/kubectl.ts'
import {
  balanced,
  balancerFinalizer,
  balancerId,
  balancerMetro,
  balancerRoutes,
  balancersOf,
  wantedPorts,
} from './balancer-view.ts'
import { eventually } from './eventually.ts'
import { installPlugin } from './installed-plugin.ts'
import { loadBalancer } from './manifests.ts'
import { ipOf, simulatedNodes } from './simulated-nodes.ts'
import { openStage, routes } from './test-stage.ts'

const stage = await openStage()
await installPlugin(stage)
const plugin = kubectlOf(stage.controlPlane)
const running = { env: { METAL_LOAD_BALANCER: 'emlb:///da' }, flags: ['--cloud-timeout=2s'] }
const { control } = stage.cloud
const { calls, faults, balancers } = control
const { signal } = new AbortController()
const vendor = equinixMetalBalancers({
  apiKey: new Secret(stage.token),
  projectId: stage.project,
  userAgent: 'another',
  baseUrl: `${stage.cloud.url}/lb`,
  tokensUrl: `${stage.cloud.url}/iam`,
})
let product = await stage.start(running)
const nodes = simulatedNodes(stage)
const addresses: string[] = []
for (const name of ['worker-1', 'worker-2']) addresses.push(ipOf(await nodes.startNode(name), 4, 'public'))

const twoPorts = {
  ports: [
    { name: 'http', port: 80 },
    { name: 'https', port: 443 },
  ],
}
const served = (name: string, at = addresses) => balanced(stage, name, at)
const create = (name: string, spec = {}) => stage.create(loadBalancer(name, { spec }))
const remove = async (name: string) => {
  await stage.run('delete', 'service', name, '--wait=false')
  await stage.gone(name)
}
const nothingLeft = () => assert.equal([balancersOf(stage), balancers.pools()], [[], []])
const eventsOf = async (name: string): Promise<string> => {
  const { items } = await stage.client.list(events, { fieldSelector: `involvedObject.name=${name}` })
  return items.map(({ message }) => message).join(' ')
}
const said = (name: string, words: string) =>
  eventually(
    `an Event of ${name} says: ${words}`,
    async (observe) => observe(await eventsOf(name)).includes(words) || undefined,
  )

test('a Service gets one balancer, a pool and a port for each of its ports, and an origin for each node', async () => {
  calls.clear()
  await create('web', twoPorts)
  const { id, name, ips } = await served('web')
  const service = await stage.service('web')
  assert.is(service?.metadata.annotations?.[balancerMetro], 'da')
  assert.equal(service?.metadata.finalizers, [balancerFinalizer])
  const { stdout: why } = await plugin(['eip', 'why', 'web'])
  assert.match(why, `Service default/web has the address ${ips[0]}: that of its managed load balancer ${id} in da.`)
  const [, searched = ''] = /--tail=-1 \| grep ([^\s`]+)/.exec(why) ?? []
  assert.match(readFileSync(stage.logOf('eip-admission'), 'utf8'), searched)
  assert.is(searched, 'default/web')
  assert.is(service?.spec.loadBalancerIP, undefined)
  assert.ok(name.length <= 53 && name.startsWith('default.web-'), name)
  assert.equal([ips.length, balancersOf(stage).map((one) => one.id)], [1, [id]])
  const writes = [balancerRoutes.create, balancerRoutes.addPool, balancerRoutes.addPort, balancerRoutes.addOrigin]
  assert.equal(
    writes.map((route) => stage.calls(route)),
    [1, 2, 2, 4],
  )
  const others = ['PATCH', 'DELETE', 'PUT'].map((method) => calls.count(`${method} /lb/**`))
  assert.equal(others, [0, 0, 0])
  assert.is(stage.calls(balancerRoutes.exchange), 1)
})

test('there is no address of the ledger, no record and no BGP', async () => {
  assert.is(await stage.record('web'), undefined)
  assert.equal(stage.reserved(), [])
  assert.is(stage.calls(routes.reserve), 0)
  assert.is(calls.count('POST /projects/{id}/bgp-configs'), 0)
  assert.is(calls.count('POST /devices/{id}/bgp/sessions'), 0)
})

test('a settled Service costs no write when the process starts again', async () => {
  await product.stop()
  calls.clear()
  product = await stage.start(running)
  await eventually('the balancer was read', () => calls.count(balancerRoutes.origins) >= 2 || undefined)
  await served('web')
  assert.is(calls.count('POST /lb/**'), 0)
})

test('a port that changes, comes or goes changes only what is its own', async () => {
  const [http] = (await stage.service('web'))?.spec.ports ?? []
  calls.clear()
  const ports = [http, { name: 'alt', port: 8080 }]
  await stage.run('patch', 'service', 'web', '--type=merge', '-p', JSON.stringify({ spec: { ports } }))
  await served('web')
  const writes = [balancerRoutes.addPool, balancerRoutes.addPort, balancerRoutes.removePool, balancerRoutes.removePort]
  assert.equal(
    writes.map((route) => stage.calls(route)),
    [1, 1, 1, 1],
  )
  assert.equal([stage.calls(balancerRoutes.addOrigin), stage.calls(balancerRoutes.removeOrigin)], [2, 0])
  assert.is(balancers.pools().length, 2)
})

test('a node port that changes replaces the origins of its pool, new ones first', async () => {
  calls.clear()
  const patch = [{ op: 'replace', path: '/spec/ports/0/nodePort', value: 32_123 }]
  await stage.run('patch', 'service', 'web', '--type=json', '-p', JSON.stringify(patch))
  await served('web')
  const [adds, removes] = [calls.all(balancerRoutes.addOrigin), calls.all(balancerRoutes.removeOrigin)]
  assert.equal([adds.length, removes.length], [2, 2])
  assert.ok((adds.at(-1)?.at ?? '') <= (removes[0]?.at ?? ''))
})

test('nodes that join at once are one update of each pool, and each origin is added once', async () => {
  calls.clear()
  const names = Array.from({ length: 6 }, (_, n) => `joining-${n}`)
  const machines = await Promise.all(names.map((name) => nodes.startNode(name)))
  await served('web', [...addresses, ...machines.map((machine) => ipOf(machine, 4, 'public'))])
  assert.is(stage.calls(balancerRoutes.addOrigin), 12)
  assert.is(stage.calls(balancerRoutes.removeOrigin), 0)
  await stage.run('delete', 'node', ...names)
  for (const { id } of machines) control.devices.remove(id)
  await served('web')
  assert.is(stage.calls(balancerRoutes.removeOrigin), 12)
})

test('a node that is excluded, not ready or leaving is no origin; without any other they all stay', async () => {
  const label = 'node.kubernetes.io/exclude-from-external-load-balancers'
  await stage.run('label', 'node', 'worker-2', `${label}=`)
  await served('web', addresses.slice(0, 1))
  await stage.run('label', 'node', 'worker-2', `${label}-`)
  await served('web')
  await nodes.say('worker-1', 'False')
  await served('web', addresses.slice(1))
  await nodes.say('worker-2', 'Unknown')
  await served('web')
  calls.clear()
  await stage.run('label', 'node', 'worker-1', 'worker-2', `${label}=`)
  await said('web', 'its load balancer reaches no node of the cluster: 2 with the label ' + label)
  assert.is(calls.count(balancerRoutes.removeOrigin), 0, 'a pool was emptied')
  await stage.run('label', 'node', 'worker-1', 'worker-2', `${label}-`)
  for (const name of ['worker-1', 'worker-2']) await nodes.say(name, 'True')
  await served('web')
})

test('an address that may move is no origin, even if a predecessor wrote it on the node', async () => {
  const elastic = (await stage.order()).address
  const [device] = control.devices.all().filter(({ hostname }) => hostname === 'worker-1')
  await fetch(`${stage.cloud.url}/devices/${String(device?.['id'])}/ips`, {
    method: 'POST',
    headers: { 'x-auth-token': stage.token, 'content-type': 'application/json' },
    body: JSON.stringify({ address: `${elastic}/32` }),
  })
  const node = await stage.client.get(nodeResource, { name: 'worker-1' })
  const all = [{ type: 'ExternalIP', address: elastic }, ...(node?.status?.addresses ?? [])]
  const patch = JSON.stringify({ status: { addresses: all } })
  await stage.run('patch', 'node', 'worker-1', '--subresource=status', '--type=merge', '-p', patch)
  await new Promise((done) => setTimeout(done, 4_000))
  await served('web')
})

// A table in test/webhooks/service-managed.test.ts has more; these depend on the API server and the cloud's metros.
const refused: { name: string; spec: object; annotations?: Record<string, string>; text: string }[] = [
  {
    name: 'a UDP port',
    spec: { ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] },
    text: 'spec.ports[0].protocol: "UDP" for port 53: a managed load balancer forwards TCP only',
  },
  {
    name: 'an unknown metro',
    spec: {},
    annotations: { [balancerMetro]: 'fr' },
    text: `annotation ${balancerMetro}: "fr" is not one of am (Amsterdam), da (Dallas)`,
  },
]
for (const { name, spec, annotations, text } of refused) {
  test(`${name} is refused at admission with a reason`, async () => {
    const manifest = loadBalancer('refused', {
      spec: spec as Record<string, unknown>,
      ...(annotations && { annotations }),
    })
    const { code, stderr } = await stage.kubectl(['create', '-f', '-'], manifest)
    assert.is(code, 1)
    assert.match(stderr, text)
  })
}

test('a UDP port cannot be added either, and everything else of the Service can be changed', async () => {
  const [http] = (await stage.service('web'))?.spec.ports ?? []
  const ports = [http, { name: 'dns', port: 53, protocol: 'UDP' }]
  const patch = ['patch', 'service', 'web', '--type=merge', '-p', JSON.stringify({ spec: { ports } })]
  const { code, stderr } = await stage.kubectl(patch)
  assert.is(code, 1)
  assert.match(stderr, 'forwards TCP only')
  await stage.run('annotate', 'service', 'web', 'example.com/note=hello')
})

test('a dry run warns of what would be created, and calls nothing', async () => {
  calls.clear()
  const { stderr } = await stage.kubectl(['create', '--dry-run=server', '-f', '-'], loadBalancer('dry'))
  assert.match(stderr, 'dry run: a managed load balancer in da would be created')
  assert.is(calls.count('POST /lb/**'), 0)
})

test('spec.loadBalancerIP has no effect, and its user gets a warning', async () => {
  const manifest = loadBalancer('own', { spec: { loadBalancerIP: '198.51.100.77' } })
  const { stderr } = await stage.kubectl(['create', '-f', '-'], manifest)
  assert.match(stderr, 'spec.loadBalancerIP: "198.51.100.77" has no effect')
  await served('own')
  await remove('own')
})

test('an update that drops finalizer and annotations loses no balancer', async () => {
  const before = await served('web')
  const service = await stage.service('web')
  const { annotations: _a, finalizers: _f, ...metadata } = service?.metadata ?? { name: 'web' }
  const { code, stderr } = await stage.kubectl(['replace', '-f', '-'], { ...service, metadata })
  assert.is(code, 0, stderr)
  assert.ok((await stage.service('web'))?.metadata.finalizers?.includes(balancerFinalizer))
  const after = await served('web')
  assert.equal([after.id, balancersOf(stage).length], [before.id, 1])
})

test('a Service that names the balancer of another gets none, and takes none along when it goes', async () => {
  const { id } = await served('web')
  await stage.create(loadBalancer('thief', { annotations: { [balancerId]: id } }))
  await eventually(
    'the thief gets an Event',
    async (observe) => observe(await eventsOf('thief')).includes('was not created for this Service') || undefined,
  )
  await remove('thief')
  assert.equal(
    balancersOf(stage).map((one) => one.id),
    [id],
  )
})

test('a balancer without addresses is shown when it has them', async () => {
  balancers.set({ buildMs: 3_000 })
  await create('slow')
  await served('slow')
  balancers.set({ buildMs: 0 })
  await remove('slow')
})

test('the limit of the project reaches the user with the words of the provider, and the Service is served when there is room', async () => {
  balancers.set({ limit: 1 })
  await create('sixth')
  await eventually(
    'the limit is reported',
    async (observe) => observe(await eventsOf('sixth')).includes('load balancer limit reached') || undefined,
  )
  balancers.set({ limit: 5 })
  await served('sixth')
  await remove('sixth')
})

test('a balancer that somebody deletes is created again', async () => {
  const before = await create('fragile').then(() => served('fragile'))
  balancers.vanish(before.id)
  await stage.run('annotate', 'service', 'fragile', 'example.com/look=again')
  const after = await served('fragile')
  assert.is.not(after.id, before.id)
  await remove('fragile')
})

test('after a 401 the token is renewed once, and nothing fails', async () => {
  balancers.revokeTokens()
  calls.clear()
  await create('renewed')
  await served('renewed')
  assert.is(stage.calls(balancerRoutes.exchange), 1)
  // On a machine that pauses, a call may still be late.
  assert.not.match(await eventsOf('renewed'), /Error(?!.*did not answer)/)
  await remove('renewed')
})

const lost = [
  { name: 'create of the balancer', on: balancerRoutes.create },
  { name: 'create of a pool', on: balancerRoutes.addPool },
  { name: 'create of an origin', on: balancerRoutes.addOrigin },
  { name: 'create of a port', on: balancerRoutes.addPort },
]
for (const answer of [500, 'reset'] as const)
  test(`answers to the ${lost.map(({ name }) => name).join(', ')} that are lost (${answer}) double nothing`, async () => {
    const before = [balancersOf(stage).length, balancers.pools().length]
    calls.clear()
    for (const { on } of lost) faults.add({ on, answer, done: true, times: 1 })
    const service = `lost-${answer}`
    await create(service, twoPorts)
    await served(service)
    for (const { on } of lost)
      assert.ok(
        calls.all(on).some(({ fault }) => fault !== undefined),
        on,
      )
    assert.equal([balancersOf(stage).length, balancers.pools().length], [before[0]! + 1, before[1]! + 2])
    await remove(service)
    assert.equal([balancersOf(stage).length, balancers.pools().length], before)
  })

test('a create that was not carried out is sent again when it cannot succeed any more', async () => {
  faults.add({ on: balancerRoutes.create, answer: 500, times: 1 })
  calls.clear()
  await create('again')
  await served('again')
  assert.is(stage.calls(balancerRoutes.create), 2)
  await remove('again')
})

test('a create that the provider carries out late leaves one balancer, with the addresses that the Service shows', async () => {
  await create('late')
  const { id, name } = await served('late')
  const late = await vendor.create({ name, location: 'da' }, signal)
  await stage.run('annotate', 'service', 'late', 'example.com/look=again')
  await eventually('the second balancer no longer exists', (observe) => {
    const ids = observe(balancersOf(stage)).filter((one) => one.name === name)
    return ids.every((one) => one.id !== late) || undefined
  })
  assert.is((await served('late')).id, id)
  await said('late', `Load balancer ${late} is deleted: an earlier request created it`)
  await remove('late')
})

test('while the provider is down a Service waits, and is served when it is back', async () => {
  faults.add({ on: '/lb/**', answer: 503 })
  await create('patient')
  await said('patient', 'answered 503')
  faults.clear()
  await served('patient')
  await remove('patient')
})

test('a Service that leaves the type loses its balancer, and nothing else', async () => {
  await create('typed')
  await served('typed')
  await stage.run('patch', 'service', 'typed', '--type=merge', '-p', '{"spec":{"type":"ClusterIP"}}')
  const cleared = await eventually('the balancer no longer exists', async (observe) => {
    const service = observe(await stage.service('typed'))
    return service && !service.metadata.finalizers?.length ? service : undefined
  })
  assert.equal([cleared.metadata.annotations?.[balancerId], balancersOf(stage).length], [undefined, 1])
  await stage.run('delete', 'service', 'typed')
})

test('a Service of another class is left alone', async () => {
  const other = await create('classy', { loadBalancerClass: 'example.com/other' })
  assert.equal(other.metadata.finalizers ?? [], [])
  await stage.run('delete', 'service', 'classy')
  assert.is(balancersOf(stage).length, 1)
})

test('a deleted Service takes balancer, ports, pools and origins along', async () => {
  await remove('web')
  nothingLeft()
  await said('web', 'Deleted load balancer')
})

test('wantedPorts sees a difference', async () => {
  const service = await create('seen')
  assert.is.not(JSON.stringify(wantedPorts(service, addresses)), JSON.stringify(wantedPorts(service, [])))
  await remove('seen')
  nothingLeft()
})

test.after(() => stage.close())

test.run()
