// The limit of a namespace, protected Services, and fields that users cannot change.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { loadBalancer, reclaim } from '../whole/manifests.ts'
import { dialect, openStage, routes } from './dialect.ts'

const stage = await openStage()
await stage.startSwept({ env: dialect.here, flags: ['--max-addresses-per-namespace=3'] })
const { kubectl } = stage
const run = (...args: string[]) => stage.run(...args)
const protect = 'eip-admission.dev/protect'

/** Makes a namespace that has as many addresses as its limit allows. */
async function fill(namespace: string): Promise<void> {
  await run('create', 'namespace', namespace)
  for (let n = 0; n < 3; n += 1) await stage.create(loadBalancer(`filler-${n}`, { namespace }))
}

test('of many simultaneous creates in a namespace no more succeed than its limit allows', async () => {
  await run('create', 'namespace', 'race')
  const before = stage.reserved().length
  const names = Array.from({ length: 12 }, (_, n) => `racer-${n}`)
  const output = await Promise.all(
    names.map((name) => kubectl(['create', '-f', '-'], loadBalancer(name, { namespace: 'race' }))),
  )
  const admitted = output.filter(({ code }) => code === 0).length
  assert.ok(admitted <= 3, `${admitted} were admitted`)
  assert.is(stage.reserved().length, before + admitted)
  for (const { code, stderr } of output)
    if (code !== 0) assert.match(stderr, 'the limit of 3 addresses in namespace race')
})

test('a refusal at the limit of a namespace names the holders, also in a dry run', async () => {
  const before = stage.reserved().length
  await fill('crowd')
  for (const flags of [[], ['--dry-run=server']]) {
    const { code, stderr } = await kubectl(
      ['create', ...flags, '-f', '-'],
      loadBalancer('late', { namespace: 'crowd' }),
    )
    assert.is(code, 1)
    assert.match(stderr, 'Service crowd/late gets no address: the limit of 3 addresses in namespace crowd is reached')
    assert.match(stderr, /they are held by crowd\/\S+, crowd\/\S+, crowd\/\S+/)
  }
  assert.is(stage.reserved().length, before + 3)
})

test('a deleted Service makes room below the limit of its namespace', async () => {
  await fill('room')
  await run('delete', 'service', '-n', 'room', 'filler-0')
  await stage.gone('filler-0', 'room')
  const { spec } = await stage.create(loadBalancer('late', { namespace: 'room' }))
  assert.ok(stage.reserved().some(({ address }) => address === spec.loadBalancerIP))
})

test('deleting a protected Service is refused, with the command that removes the protection', async () => {
  const { spec } = await stage.create(loadBalancer('dear', { annotations: { [protect]: 'true' } }))
  await stage.settled('dear')
  const refused = await kubectl(['delete', 'service', 'dear'])
  assert.is(refused.code, 1)
  assert.match(refused.stderr, 'kubectl annotate service -n default dear eip-admission.dev/protect=false --overwrite')
  assert.is((await kubectl(['delete', 'service', 'dear', '--dry-run=server'])).code, 1)
  assert.is((await stage.service('dear'))?.metadata.deletionTimestamp, undefined)

  const turned = await kubectl(['patch', 'service', 'dear', '-p', '{"spec":{"type":"ClusterIP"}}'])
  assert.match(turned.stderr, 'which it would lose because its type is ClusterIP')
  const both = JSON.stringify({ metadata: { annotations: { [protect]: 'false' } }, spec: { type: 'ClusterIP' } })
  assert.is((await kubectl(['patch', 'service', 'dear', '-p', both])).code, 1)

  await run('annotate', 'service', 'dear', `${protect}=false`, '--overwrite')
  await run('delete', 'service', 'dear')
  await stage.gone('dear')
  assert.not(stage.reserved().some(({ address }) => address === spec.loadBalancerIP))
})

test('a status write cannot change annotations of ours, and can change others', async () => {
  await stage.create(loadBalancer('status'))
  await stage.settled('status')
  const write = (annotations: Record<string, string>) =>
    kubectl(['patch', 'service', 'status', '--subresource=status', '-p', JSON.stringify({ metadata: { annotations } })])
  const forged = await write({ 'eip-admission.dev/address': '192.0.2.1' })
  assert.is(forged.code, 1)
  assert.match(
    forged.stderr,
    'annotation eip-admission.dev/address: only eip-admission writes it; do not set it to "192.0.2.1"',
  )
  for (const meant of [reclaim, ...(dialect.elsewhere ? [dialect.elsewhere.annotation] : [])]) {
    const typo = await write({ [meant.slice(0, -1)]: 'any' })
    assert.is(typo.code, 1)
    assert.match(typo.stderr, `did you mean ${meant}?`)
  }
  assert.is((await write({ 'example.com/anything': 'goes' })).code, 0)
})

test('exchanging the address of a live Service is refused, and the provider is not called', async () => {
  const { spec } = await stage.create(loadBalancer('fixed'))
  await stage.settled('fixed')
  stage.cloud.control.calls.clear()
  const exchanged = await kubectl(['patch', 'service', 'fixed', '-p', '{"spec":{"loadBalancerIP":"198.51.100.9"}}'])
  assert.is(exchanged.code, 1)
  assert.match(exchanged.stderr, `"198.51.100.9" cannot replace ${spec.loadBalancerIP}`)
  assert.is((await stage.service('fixed'))?.spec.loadBalancerIP, spec.loadBalancerIP)
  assert.is(stage.calls(routes.reserve), 0)
})

test.after(() => stage.close())

test.run()
