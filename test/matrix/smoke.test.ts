// The common behaviour of all dialects, once in each: dry run, create, refuse, announce, release. The files that
// dialects-by-file.ts lists show the same in depth, in the dialects where they differ most.
import { isDeepStrictEqual } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Product } from '../../sandbox/product.ts'
import { serviceTag } from '../whole/dialects.ts'
import { eventually } from '../whole/eventually.ts'
import { finalizer, loadBalancer, reclaim, shown } from '../whole/manifests.ts'
import { shownIn } from '../whole/stored.ts'
import { dialect, openStage, routes } from './dialect.ts'

const stage = await openStage()
const { kubectl } = stage
const { control } = stage.cloud
const { calls, faults, quota } = control
const { elsewhere, here, misspelt, place, placeSetting, words } = dialect

let product: Product | undefined
let settings: Record<string, string> | undefined

/** Runs the product with these settings; restarts it only if it has others. */
async function runWith(env: Record<string, string>): Promise<void> {
  if (isDeepStrictEqual(env, settings)) return
  await product?.stop()
  product = await stage.startSwept({ env, flags: ['--own-address-ranges=198.51.100.0/24'] })
  settings = env
}

const isReserved = (address: string | undefined) => stage.reserved().some((one) => one.address === address)
const create = (manifest: object, flags: string[] = []) => kubectl(['create', ...flags, '-f', '-'], manifest)

test('a dry run says where an address would be reserved, and reserves none', async () => {
  await runWith(here)
  calls.clear()
  const { code, stderr } = await create(loadBalancer('imagined'), ['--dry-run=server'])
  assert.equal([code, stderr], [0, `Warning: dry run: an address in ${place} would be reserved\n`])
  assert.equal([calls.all(), await stage.record('imagined')], [[], undefined])
})

test('a created Service returns with its address after one call to the provider, and the reservation has its marks', async () => {
  await runWith(here)
  calls.clear()
  const { metadata, spec } = await stage.create(loadBalancer('web'))
  assert.equal([stage.calls(routes.list), stage.calls(routes.reserve)], [0, 1])
  assert.equal([metadata.annotations?.[shown], metadata.finalizers], [spec.loadBalancerIP, [finalizer]])
  assert.is(await stage.settled('web'), spec.loadBalancerIP)
  const held = stage.reserved().find(({ address }) => address === spec.loadBalancerIP)
  assert.is(held?.place, place)
  for (const tag of [dialect.usage, serviceTag(dialect, 'default/web')]) assert.ok(held?.tags.includes(tag), tag)
  const columns = new RegExp(`${spec.loadBalancerIP} +${place} +Bound +True +Bound +Delete +default +web `)
  assert.match(await stage.run('get', 'eip', 'default.web'), columns)
})

test('a Service keeps a user-chosen address, and the provider is not called for it', async () => {
  await runWith(here)
  calls.clear()
  const own = '198.51.100.7'
  const { spec, metadata } = await stage.create(loadBalancer('own', { spec: { loadBalancerIP: own } }))
  assert.equal([spec.loadBalancerIP, metadata.finalizers], [own, [finalizer]])
  assert.is(await eventually('its status shows it', async () => shownIn(await stage.service('own'))), own)
  await stage.run('delete', 'service', 'own', '--timeout=120s')
  assert.equal([stage.calls(routes.reserve), stage.calls(routes.release)], [0, 0])
})

test('the Service that mirrors the control plane, and one of another class, are left alone', async () => {
  await runWith(here)
  const others = [
    { name: dialect.controlPlaneService, namespace: 'kube-system', spec: {} },
    { name: 'another-class', namespace: 'default', spec: { loadBalancerClass: 'example.com/other' } },
  ]
  for (const { name, namespace, spec } of others) {
    const created = await stage.create(loadBalancer(name, { namespace, spec }))
    assert.equal([created.metadata.finalizers, created.spec.loadBalancerIP], [undefined, undefined])
    // A later Service that is settled shows that the controller has seen this one.
    await stage.create(loadBalancer('after-others'))
    await stage.settled('after-others')
    assert.is((await stage.service(name, namespace))?.metadata.resourceVersion, created.metadata.resourceVersion)
    await stage.run('delete', 'service', 'after-others', '--timeout=120s')
  }
})

test('a misspelt annotation is refused with the one that was meant', async () => {
  await runWith(here)
  for (const meant of [reclaim, ...(elsewhere ? [elsewhere.annotation] : [])]) {
    const typo = meant.slice(0, -1)
    const { code, stderr } = await create(loadBalancer('typo', { annotations: { [typo]: 'any' } }))
    assert.is(code, 1)
    assert.match(stderr, `Service default/typo: annotation ${typo} (value "any") is unknown; did you mean ${meant}?`)
  }
})

test("a project at its limit and a revoked token are refused with the provider's words, and nothing stays behind", async () => {
  await runWith(here)
  const troubles = [
    { words: words.quota, begin: () => quota.set(0), end: () => quota.set(256) },
    { words: words.unauthorized, begin: () => faults.add({ answer: 401 }), end: () => faults.clear() },
  ]
  for (const { words: expected, begin, end } of troubles) {
    begin()
    const { code, stderr } = await create(loadBalancer('refused'))
    end()
    assert.is(code, 1)
    // Some clouds add a word for programs.
    assert.match(stderr.replace(/ \(\w+\); /, '; '), `: ${expected}; `)
    assert.equal([await stage.service('refused'), await stage.record('refused')], [undefined, undefined])
  }
})

test('a deleted Service releases its address, and the provider loses the reservation', async () => {
  await runWith(here)
  const { spec } = await stage.create(loadBalancer('short'))
  await stage.settled('short')
  await stage.run('delete', 'service', 'short', '--timeout=120s')
  await stage.gone('short')
  assert.not(isReserved(spec.loadBalancerIP))
})

test('with reclaimPolicy Retain the next Service of the same name has the same address, without a call', async () => {
  await runWith(here)
  const manifest = loadBalancer('kept', { annotations: { [reclaim]: 'Retain' } })
  await stage.create(manifest)
  const address = await stage.settled('kept')
  await stage.run('delete', 'service', 'kept', '--timeout=120s')
  await eventually(
    'it is Released',
    async () => (await stage.record('kept'))?.status?.phase === 'Released' || undefined,
  )
  assert.ok(isReserved(address))
  calls.clear()
  assert.is((await stage.create(manifest)).spec.loadBalancerIP, address)
  assert.is(await stage.settled('kept'), address)
  assert.is(stage.calls(routes.reserve), 0)
})

test('a Service does not wait for a cloud that is slow to delete, and the next one has another address', async () => {
  await runWith(here)
  control.setDeletion({ reservationsMs: 600_000 })
  await stage.create(loadBalancer('slow'))
  const address = await stage.settled('slow')
  await stage.run('delete', 'service', 'slow', '--timeout=120s')
  await stage.gone('slow')
  assert.match(await stage.run('get', 'eip'), new RegExp(`releasing-\\S+ +${address}.* Releasing`))
  await stage.create(loadBalancer('slow'))
  assert.is.not(await stage.settled('slow'), address)
  control.setDeletion({ reservationsMs: 0 })
})

test('a misspelt location in the settings is refused with the one that was meant and the known ones', async () => {
  await product?.stop()
  // If a cloud lists addresses by location, no sweep can read them.
  product = await stage.start({ env: { ...here, [placeSetting.name]: misspelt.place } })
  const { code, stderr } = await create(loadBalancer('victim'))
  assert.is(code, 1)
  for (const expected of [`setting ${placeSetting.name}: `, ...misspelt.expected]) assert.match(stderr, expected)
})

test.after(() => stage.close())

test.run()
