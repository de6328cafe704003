// What a terminal says to who can have no address, or not the one that they ask for.
import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dialects } from '../../sandbox/dialects.ts'
import type { Product } from '../../sandbox/product.ts'
import { type Facts, loadBalancer, reclaim } from '../whole/manifests.ts'
import { routes } from '../whole/world.ts'
import { dialect, openWorld } from './dialect.ts'

const { here, place, placeSetting, misspelt, elsewhere } = dialect
/** Without a place, where a Service can say one. */
const nowhere = {}
const readOnly = randomBytes(16).toString('hex')
const account = await dialects[dialect.name].open({ readOnly })
const world = await openWorld({ account })
const { calls, faults, quota } = world.cloud.door
// A call that looks whether an address is gone yet would be taken for one that a refusal has cost.
world.cloud.door.setDeletion({ reservationsMs: 0 })

let product: Product | undefined
let settings: Record<string, string> | undefined

/** Runs the product with these settings; where it has them already it goes on. */
async function running(env: Record<string, string>): Promise<void> {
  if (isDeepStrictEqual(env, settings)) return
  await product?.stop()
  product = await world.startSwept({ env })
  settings = env
}

const refused = 'admission webhook "reserve.eip-admission.dev" denied the request: '
const create = (manifest: object) => world.kubectl(['create', '-f', '-'], manifest)

/** What the terminal says when a Service is refused; it must be the same in a dry run, and cost nothing. */
async function refusal(name: string, facts: Facts = {}, verb = ['create']): Promise<string> {
  const manifest = loadBalancer(name, facts)
  calls.clear()
  const dry = await world.kubectl([...verb, '--dry-run=server', '-f', '-'], manifest)
  const wet = await world.kubectl([...verb, '-f', '-'], manifest)
  assert.equal([dry.code, wet.code], [1, 1])
  assert.is(dry.stderr, wet.stderr, 'a dry run refuses in the same words')
  assert.equal([wet.stdout, calls.all()], ['', []])
  assert.equal([await world.service(name), await world.record(name)], [undefined, undefined])
  assert.match(wet.stderr, refused)
  return wet.stderr.slice(wet.stderr.indexOf(refused) + refused.length)
}

async function deleted(name: string): Promise<void> {
  await world.must('delete', 'service', name)
  await world.gone(name)
}

const placed = elsewhere ? { [elsewhere.annotation]: place } : {}
const mistakes = [
  { annotation: reclaim, wrong: 'Keep', other: 'Hold', right: 'Delete' },
  ...(elsewhere ? [{ annotation: elsewhere.annotation, wrong: 'atlantis', other: 'eldorado', right: place }] : []),
]
test('a Service that was there with its mistake can still be labelled, mended and deleted', async () => {
  await running({ ...here, [dialect.loadBalancer]: 'none' })
  for (const [n, { annotation, wrong }] of mistakes.entries())
    await world.create(loadBalancer(`old-${n}`, { annotations: { ...placed, [annotation]: wrong } }))
  await running(elsewhere ? nowhere : here)
  for (const [n, { annotation, other, right }] of mistakes.entries()) {
    const name = `old-${n}`
    const annotate = (value: string) => ['annotate', '--overwrite', 'service', name, `${annotation}=${value}`]
    await world.must('label', 'service', name, 'team=web')
    assert.is((await world.kubectl(annotate(other))).code, 1)
    await world.must(...annotate(right))
    await world.settled(name)
    await deleted(name)
  }
})

test('all mistakes of a Service are told at once', async () => {
  await running(elsewhere ? nowhere : here)
  const wrong = { [reclaim]: 'Keep', 'eip-admission.dev/protct': 'true' }
  const misplaced = elsewhere ? { [elsewhere.annotation]: 'atlantis', [`${dialect.prefix}eip`]: 'any' } : {}
  const annotations = { ...wrong, ...misplaced }
  const said = await refusal('wrong', { annotations })
  const all = Object.entries(annotations)
  assert.match(said, `Service default/wrong: ${all.length} mistakes:`)
  for (const [name, value] of all) assert.match(said, `  - annotation ${name}: "${value}" is `)
})

if (elsewhere) {
  const { annotation } = elsewhere

  test('a cluster without a place tells who has none which annotations and settings there are', async () => {
    await running(nowhere)
    for (const verb of [['create'], ['apply'], ['apply', '--server-side']]) {
      const said = await refusal('nowhere', {}, verb)
      for (const name of [annotation, placeSetting.name]) assert.match(said, name)
    }
    const diff = await world.kubectl(['diff', '-f', '-'], loadBalancer('nowhere'))
    assert.ok(diff.code > 0)
    for (const name of [annotation, placeSetting.name]) assert.match(diff.stderr, name)
  })

  test('an unknown place is refused with the annotation, the value, the nearest one and the list', async () => {
    await running(nowhere)
    const said = await refusal('typo', { annotations: { [annotation]: misspelt.place } })
    for (const words of [`Service default/typo: annotation ${annotation}: `, ...misspelt.said])
      assert.match(said, words)
    // One that the same cluster knows is taken, however it is written.
    const spelt = { [annotation]: elsewhere.place.toUpperCase() }
    const { spec } = await world.create(loadBalancer('spelt', { annotations: spelt }))
    const held = world.reserved().find(({ address }) => address === spec.loadBalancerIP)
    assert.is(held?.place, elsewhere.place)
    await deleted('spelt')
  })

  test('a Service that has its address is told that it cannot move, and may change all else', async () => {
    await running(nowhere)
    await world.create(loadBalancer('fixed', { annotations: { [annotation]: place } }))
    const address = await world.settled('fixed')
    const move = ['annotate', '--overwrite', 'service', 'fixed', `${annotation}=${elsewhere.place}`]
    const { code, stderr } = await world.kubectl(move)
    assert.is(code, 1)
    assert.match(stderr, `its address ${address} is in ${place} and cannot move to ${elsewhere.place}`)
    await world.must('label', 'service', 'fixed', 'team=web')
    assert.is(await world.settled('fixed'), address)
    await deleted('fixed')
  })
}

const moves = [
  ...(elsewhere
    ? [
        {
          by: 'the Service',
          from: { env: nowhere, annotations: { [elsewhere.annotation]: place } },
          to: { env: nowhere, annotations: { [elsewhere.annotation]: elsewhere.place } },
        },
      ]
    : []),
  {
    by: 'the settings',
    from: { env: here, annotations: {} },
    to: { env: { ...here, [placeSetting.name]: placeSetting.other }, annotations: {} },
  },
]
for (const { by, from, to } of moves) {
  test(`where ${by} said another place before, no address that waits there is handed out as one here`, async () => {
    const { annotations } = from
    await running(from.env)
    await world.create(loadBalancer('kept', { annotations: { ...annotations, [reclaim]: 'Retain' } }))
    const keptThere = await world.settled('kept')
    await world.must('delete', 'service', 'kept')
    const broken = loadBalancer('moves', { annotations, spec: { ports: [{ port: 70_000 }] } })
    assert.match((await create(broken)).stderr, 'Invalid value: 70000')
    const { address: reservedThere = '' } = (await world.record('moves'))?.status ?? {}
    assert.ok(reservedThere)

    await running(to.env)
    const there = { kept: keptThere, moves: reservedThere }
    for (const [name, address] of Object.entries(there)) {
      const manifest = loadBalancer(name, { annotations: to.annotations })
      const { code, stderr } = await create(manifest)
      assert.is(code, 1)
      assert.match(stderr, `${address} is kept for it in ${place}, but it requests one in ${placeSetting.other}`)
      // Who does what it says is let in.
      const [, ...command] = /kubectl delete eip \S+/.exec(stderr)?.[0].split(' ') ?? []
      await world.must(...command, '--timeout=20s')
      const { spec } = await world.create(manifest)
      assert.is(world.reserved().find((one) => one.address === spec.loadBalancerIP)?.place, placeSetting.other)
      await deleted(name)
    }
  })
}

test('an annotation that nobody knows is refused with the one that was meant', async () => {
  await running(here)
  for (const meant of [reclaim, ...(elsewhere ? [elsewhere.annotation] : [])]) {
    const typo = meant.slice(0, -1)
    const said = await refusal('typo', { annotations: { [typo]: 'any' } })
    assert.is(said.trim(), `Service default/typo: annotation ${typo}: "any" is not known, did you mean ${meant}?`)
  }
})

test('an address of their own that is no address is refused', async () => {
  await running(here)
  const said = await refusal('own', { spec: { loadBalancerIP: '203.0.113.300' } })
  assert.match(said, 'spec.loadBalancerIP: "203.0.113.300" is not an IP address')
})

test("a project at its limit refuses in the terminal, with the cloud's words and what to do", async () => {
  await running(here)
  quota.set(0)
  calls.clear()
  const { code, stderr } = await create(loadBalancer('too-many'))
  quota.set(256)
  assert.is(code, 1)
  assert.match(stderr, refused)
  assert.match(stderr, `: ${dialect.words.quota}; `)
  assert.match(stderr, /delete addresses that are not used, or have the limit [a-z ]*raised/)
  assert.is(world.calls(routes.reserve), 1)
  assert.equal([await world.service('too-many'), await world.record('too-many')], [undefined, undefined])
  // Nothing stays in the way of the next attempt.
  await world.create(loadBalancer('too-many'))
  await deleted('too-many')
})

const checkTheKey = `check that the API key is valid and may read and write in project ${world.project}`

test('a token that was revoked refuses in the terminal', async () => {
  await running(here)
  faults.add({ answer: 401 })
  const { code, stderr } = await create(loadBalancer('no-rights'))
  faults.clear()
  assert.is(code, 1)
  assert.match(stderr, `: ${dialect.words.unauthorized}; ${checkTheKey}`)
  assert.is(await world.record('no-rights'), undefined)
})

if (elsewhere) {
  const { annotation } = elsewhere
  const orders = [
    { name: 'the place in the settings goes before annotations', env: here, said: place },
    {
      name: 'with EIP_SERVICE_LOCATION_WINS annotations go before the settings',
      env: { ...here, EIP_SERVICE_LOCATION_WINS: 'true' },
      said: elsewhere.place,
    },
  ]
  for (const { name, env, said } of orders) {
    test(name, async () => {
      await running(env)
      const annotations = { [annotation]: elsewhere.place }
      const { code, stderr } = await create(loadBalancer('placed', { annotations }))
      const warning = `annotation ${annotation}: "${elsewhere.place}" is ignored, ${placeSetting.name} says "${place}"`
      assert.equal([code, stderr.includes(`Warning: ${warning}`)], [0, said === place])
      assert.ok(world.reserved().some((one) => one.place === said))
      await deleted('placed')
    })
  }
}

test('a mistake in the settings for the place is told to who creates a Service', async () => {
  await running({ ...here, [placeSetting.name]: misspelt.place })
  const annotations = elsewhere ? { [elsewhere.annotation]: elsewhere.place } : {}
  const said = await refusal('victim', { annotations })
  for (const words of [`setting ${placeSetting.name}: `, ...misspelt.said]) assert.match(said, words)
})

test("a token that may only read refuses in the terminal, with the cloud's words and what to do", async () => {
  await running({ ...here, [dialect.apiKey]: readOnly })
  calls.clear()
  const { code, stderr } = await create(loadBalancer('no-rights'))
  assert.is(code, 1)
  assert.match(stderr, `${dialect.cloudName} answered 403`)
  assert.match(stderr, checkTheKey)
  assert.not.match(stderr, readOnly)
  assert.equal([await world.service('no-rights'), await world.record('no-rights')], [undefined, undefined])
})

test('the log shows no missing right and no secret', () => world.close(account.cloud))

test.run()
