// Services with a request annotation, which users write and which a predecessor wrote.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { serviceTag } from '../whole/dialects.ts'
import { eventually } from '../whole/eventually.ts'
import { finalizer, loadBalancer, shown } from '../whole/manifests.ts'
import { metallbView } from '../whole/metallb-view.ts'
import { once } from '../whole/once.ts'
import { dialect, openStage, routes } from './dialect.ts'

const [annotationName, olderName] = ['metallb.io/loadBalancerIPs', 'metallb.universe.tf/loadBalancerIPs'] as const
const theirs = '198.51.100.7'

const stage = await openStage()
const { calls } = stage.cloud.control
const metallb = metallbView(stage, '0.16.1')
const setting = 'metallb:///metallb-system?crdConfiguration=true'
await stage.run('create', 'namespace', 'metallb-system')
await metallb.install()

const requesting = (name: string, address: string, annotation: string = annotationName) =>
  loadBalancer(name, { annotations: { [annotation]: address } })
const hasPool = async (address: string) => (await metallb.pools()).includes(`${address}/32`)

const cluster = `cluster=${await stage.run('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}')}`
const served = await stage.order([dialect.usage, serviceTag(dialect, 'default/served'), cluster])
await stage.create(requesting('served', served.address))
const status = { loadBalancer: { ingress: [{ ip: served.address }] } }
await stage.run('patch', 'service', 'served', '--subresource=status', '-p', JSON.stringify({ status }))
await metallb.addPool('served', `${served.address}/32`)

const startProduct = once(() =>
  stage.startSwept({
    env: { ...dialect.here, [dialect.loadBalancer]: setting },
    flags: [`--own-address-ranges=${theirs}/32,2001:db8::/64`],
  }),
)

test('a Service of a predecessor is announced throughout the adoption, and requests its address once afterwards', async () => {
  let missing = 0
  const over = new AbortController()
  const watching = (async () => {
    for (; !over.signal.aborted; await sleep(20)) if (!(await hasPool(served.address))) missing += 1
  })()
  await startProduct()
  const { metadata, spec } = await eventually('it is ours', async (observe) => {
    // The Service shows its address before the record is bound.
    const [record, service] = observe([await stage.record('served'), await stage.service('served')])
    return record?.status?.phase === 'Bound' ? service : undefined
  })
  over.abort()
  await watching
  assert.is(spec.loadBalancerIP, served.address)
  assert.equal(metadata.annotations, { [shown]: served.address })
  assert.equal([missing, stage.calls(routes.reserve)], [0, 1], 'the one call was the predecessor’s')
  assert.is(stage.reserved().length, 1)
})

for (const annotation of [annotationName, olderName]) {
  test(`a Service that requests a user-chosen address by ${annotation} gets it, and nothing is reserved`, async () => {
    await startProduct()
    calls.clear()
    const { metadata, spec } = await stage.create(requesting('own', theirs, annotation))
    assert.equal([spec.loadBalancerIP, metadata.finalizers], [undefined, [finalizer]])
    assert.equal(metadata.annotations, { [annotation]: theirs })
    await eventually('MetalLB may give it', async () => (await hasPool(theirs)) || undefined)
    assert.is(await stage.record('own'), undefined)
    await stage.run('delete', 'service', 'own', '--timeout=120s')
    await eventually('MetalLB may give it no more', async () => !(await hasPool(theirs)) || undefined)
    assert.equal([stage.calls(routes.reserve), stage.calls(routes.release)], [0, 0])
  })
}

/** The ways in which people apply a manifest. */
const ways: string[][] = [['apply'], ['apply', '--server-side'], ['replace']]

for (const [way = '', ...flags] of ways)
  for (const annotation of [annotationName, olderName])
    test(`a user-chosen address moves from the field to ${annotation} by ${[way, ...flags].join(' ')}`, async () => {
      await startProduct()
      calls.clear()
      const send = (manifest: object) => stage.kubectl([way, ...flags, '-f', '-'], manifest)
      const inField = loadBalancer('moves', { spec: { loadBalancerIP: theirs } })
      const created = await stage.kubectl([way === 'replace' ? 'create' : way, ...flags, '-f', '-'], inField)
      assert.is(created.code, 0, created.stderr)
      await eventually('it may be announced', async () => (await hasPool(theirs)) || undefined)
      const { code, stderr } = await send(requesting('moves', theirs, annotation))
      assert.is(code, 0, stderr)
      const { metadata, spec } = (await stage.service('moves')) ?? {}
      assert.equal([metadata?.annotations?.[annotation], spec?.loadBalancerIP], [theirs, undefined])
      assert.equal([stage.calls(routes.reserve), await hasPool(theirs)], [0, true])
      await stage.run('delete', 'service', 'moves', '--timeout=120s')
    })

test('a Service that requests a user-chosen address twice gets a warning', async () => {
  await startProduct()
  const twice = loadBalancer('twice', { annotations: { [annotationName]: theirs }, spec: { loadBalancerIP: theirs } })
  const { stderr } = await stage.kubectl(['create', '-f', '-', '--dry-run=server'], twice)
  assert.match(stderr, `refuses a Service with spec.loadBalancerIP and annotation ${annotationName}`)
})

test('a Service that requests several addresses is left alone', async () => {
  await startProduct()
  calls.clear()
  const { metadata, spec } = await stage.create(requesting('several', `${theirs},2001:db8::7`))
  assert.equal([spec.loadBalancerIP, metadata.finalizers], [undefined, undefined])
  assert.is(stage.calls(routes.reserve), 0)
})

test('a Service that requests an address which is nobody’s, among several, is refused', async () => {
  await startProduct()
  const refused = `annotation ${annotationName}: "8.8.8.8" is not reserved in this project`
  // This takes effect soon after a start, when the project's reservations are known.
  await eventually('it is refused', async (observe) => {
    const flags = ['create', '-f', '-', '--dry-run=server']
    const { stderr } = observe(await stage.kubectl(flags, requesting('bad', `8.8.8.8,${theirs}`)))
    return stderr.includes(refused) || undefined
  })
  const { code, stderr } = await stage.kubectl(['create', '-f', '-'], requesting('bad', `8.8.8.8,${theirs}`))
  assert.is(code, 1)
  assert.match(stderr, refused)
})

for (const list of ['web.example.com', `${theirs},web.example.com`])
  test(`a request annotation "${list}" with a name is refused`, async () => {
    await startProduct()
    const { code, stderr } = await stage.kubectl(['create', '-f', '-'], requesting('wrong', list))
    assert.is(code, 1)
    assert.match(stderr, `Service default/wrong: annotation ${annotationName}: "web.example.com" is not an IP address`)
  })

test('a Service with a reserved address cannot request another one from MetalLB, and a second request for the same is removed', async () => {
  await startProduct()
  const { spec } = await stage.create(loadBalancer('ours'))
  const annotate = (address: string) =>
    stage.kubectl(['annotate', '--overwrite', 'service', 'ours', `${annotationName}=${address}`])
  const { code, stderr } = await annotate(theirs)
  assert.is(code, 1)
  assert.match(stderr, `annotation ${annotationName}: "${theirs}" cannot replace ${spec.loadBalancerIP}`)
  assert.is((await annotate(spec.loadBalancerIP ?? '')).code, 0)
  const after = await stage.service('ours')
  assert.equal(
    [after?.spec.loadBalancerIP, after?.metadata.annotations?.[annotationName]],
    [spec.loadBalancerIP, undefined],
  )
})

test.after(() => stage.close())

test.run()
