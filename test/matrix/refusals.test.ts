// The output of kubectl when a Service can have no address, or not the one that it requests.
import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dialects } from '../../sandbox/dialects.ts'
import type { Product } from '../../sandbox/product.ts'
import { type Facts, loadBalancer, reclaim } from '../whole/manifests.ts'
import { dialect, openStage, routes } from './dialect.ts'

const { here, place, placeSetting, misspelt, elsewhere } = dialect
/** Settings without a location, so that a Service must request one. */
const nowhere = {}
const readOnly = randomBytes(16).toString('hex')
const account = await dialects[dialect.name].open({ readOnly })
const stage = await openStage({ account })
const { calls, faults, quota } = stage.cloud.control
// With a slow deletion, calls that poll for its end would count as calls of a refusal.
stage.cloud.control.setDeletion({ reservationsMs: 0 })

let product: Product | undefined
let settings: Record<string, string> | undefined

/** Runs the product with these settings; restarts it only if it has others. */
async function running(env: Record<string, string>): Promise<void> {
  if (isDeepStrictEqual(env, settings)) return
  await product?.stop()
  product = await stage.startSwept({ env })
  settings = env
}

const refused = 'admission webhook "reserve.eip-admission.dev" denied the request: '
const create = (manifest: object) => stage.kubectl(['create', '-f', '-'], manifest)

/** The output of kubectl, without the id of the request. */
const withoutId = (stderr: string) => stderr.replaceAll(/ \(request [0-9a-f]{8}\)/g, '')

/** The refusal of a Service, which is the same in a dry run and makes no call to the cloud. */
async function refusal(name: string, facts: Facts = {}, verb = ['create']): Promise<string> {
  const manifest = loadBalancer(name, facts)
  calls.clear()
  const dry = await stage.kubectl([...verb, '--dry-run=server', '-f', '-'], manifest)
  const wet = await stage.kubectl([...verb, '-f', '-'], manifest)
  assert.equal([dry.code, wet.code], [1, 1])
  const [said = '', before] = [wet, dry].map(({ stderr }) => withoutId(stderr))
  assert.is(before, said, 'a dry run refuses in the same words')
  assert.equal([wet.stdout, calls.all()], ['', []])
  assert.equal([await stage.service(name), await stage.record(name)], [undefined, undefined])
  assert.match(said, refused)
  assert.match(wet.stderr, /\(request [0-9a-f]{8}\)/)
  return said.slice(said.indexOf(refused) + refused.length)
}

async function deleted(name: string): Promise<void> {
  await stage.run('delete', 'service', name)
  await stage.gone(name)
}

const placed = elsewhere ? { [elsewhere.annotation]: place } : {}
const mistakes = [
  { annotation: reclaim, wrong: 'Keep', other: 'Hold', right: 'Delete' },
  ...(elsewhere ? [{ annotation: elsewhere.annotation, wrong: 'atlantis', other: 'eldorado', right: place }] : []),
]
test('a stored Service with a mistake can be labelled, corrected and deleted', async () => {
  await running({ ...here, [dialect.loadBalancer]: 'none' })
  for (const [n, { annotation, wrong }] of mistakes.entries())
    await stage.create(loadBalancer(`old-${n}`, { annotations: { ...placed, [annotation]: wrong } }))
  await running(elsewhere ? nowhere : here)
  for (const [n, { annotation, other, right }] of mistakes.entries()) {
    const name = `old-${n}`
    const annotate = (value: string) => ['annotate', '--overwrite', 'service', name, `${annotation}=${value}`]
    await stage.run('label', 'service', name, 'team=web')
    assert.is((await stage.kubectl(annotate(other))).code, 1)
    await stage.run(...annotate(right))
    await stage.settled(name)
    await deleted(name)
  }
})

test('a refusal lists all mistakes of a Service', async () => {
  await running(elsewhere ? nowhere : here)
  const wrong = { [reclaim]: 'Keep', 'eip-admission.dev/protct': 'true' }
  const misplaced = elsewhere ? { [elsewhere.annotation]: 'atlantis', [`${dialect.prefix}eip`]: 'any' } : {}
  const annotations = { ...wrong, ...misplaced }
  const output = await refusal('wrong', { annotations })
  const all = Object.entries(annotations)
  assert.match(output, `Service default/wrong: ${all.length} mistakes:`)
  for (const [name] of all) assert.match(output, `  - annotation ${name}`)
})

if (elsewhere) {
  const { annotation } = elsewhere

  test('without a location the refusal names the annotations and settings that set one', async () => {
    await running(nowhere)
    for (const verb of [['create'], ['apply'], ['apply', '--server-side']]) {
      const output = await refusal('nowhere', {}, verb)
      for (const name of [annotation, placeSetting.name]) assert.match(output, name)
    }
    const diff = await stage.kubectl(['diff', '-f', '-'], loadBalancer('nowhere'))
    assert.ok(diff.code > 0)
    for (const name of [annotation, placeSetting.name]) assert.match(diff.stderr, name)
  })

  test('an unknown location is refused with the annotation, its value, the nearest one and the known ones', async () => {
    await running(nowhere)
    const output = await refusal('typo', { annotations: { [annotation]: misspelt.place } })
    for (const words of [`Service default/typo: annotation ${annotation}: `, ...misspelt.expected])
      assert.match(output, words)
    // A known location is accepted in upper case too.
    const spelt = { [annotation]: elsewhere.place.toUpperCase() }
    const { spec } = await stage.create(loadBalancer('spelt', { annotations: spelt }))
    const held = stage.reserved().find(({ address }) => address === spec.loadBalancerIP)
    assert.is(held?.place, elsewhere.place)
    await deleted('spelt')
  })

  test('moving a Service with an address to another location is refused, and other changes are allowed', async () => {
    await running(nowhere)
    await stage.create(loadBalancer('fixed', { annotations: { [annotation]: place } }))
    const address = await stage.settled('fixed')
    const move = ['annotate', '--overwrite', 'service', 'fixed', `${annotation}=${elsewhere.place}`]
    const { code, stderr } = await stage.kubectl(move)
    assert.is(code, 1)
    assert.match(stderr, `its address ${address} is in ${place} and cannot move to ${elsewhere.place}`)
    await stage.run('label', 'service', 'fixed', 'team=web')
    assert.is(await stage.settled('fixed'), address)
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
  test(`when ${by} name another location, an address that is kept in the first one is not used`, async () => {
    const { annotations } = from
    await running(from.env)
    await stage.create(loadBalancer('kept', { annotations: { ...annotations, [reclaim]: 'Retain' } }))
    const keptThere = await stage.settled('kept')
    await stage.run('delete', 'service', 'kept')
    const broken = loadBalancer('moves', { annotations, spec: { ports: [{ port: 70_000 }] } })
    assert.match((await create(broken)).stderr, 'Invalid value: 70000')
    const { address: reservedThere = '' } = (await stage.record('moves'))?.status ?? {}
    assert.ok(reservedThere)

    await running(to.env)
    const there = { kept: keptThere, moves: reservedThere }
    for (const [name, address] of Object.entries(there)) {
      const manifest = loadBalancer(name, { annotations: to.annotations })
      const { code, stderr } = await create(manifest)
      assert.is(code, 1)
      assert.match(stderr, `${address} is kept for it in ${place}, but it requests one in ${placeSetting.other}`)
      // The command in the message helps.
      const [, ...command] = /kubectl delete eip [^\s`]+/.exec(stderr)?.[0].split(' ') ?? []
      await stage.run(...command, '--timeout=120s')
      const { spec } = await stage.create(manifest)
      assert.is(stage.reserved().find((one) => one.address === spec.loadBalancerIP)?.place, placeSetting.other)
      await deleted(name)
    }
  })
}

test('an unknown annotation is refused with the one that was meant', async () => {
  await running(here)
  for (const meant of [reclaim, ...(elsewhere ? [elsewhere.annotation] : [])]) {
    const typo = meant.slice(0, -1)
    const output = await refusal('typo', { annotations: { [typo]: 'any' } })
    assert.is(
      output.trim(),
      `Service default/typo: annotation ${typo} (value "any") is unknown; did you mean ${meant}?`,
    )
  }
})

test('a user-chosen address that is not an IP address is refused', async () => {
  await running(here)
  const output = await refusal('own', { spec: { loadBalancerIP: '203.0.113.300' } })
  assert.match(output, 'spec.loadBalancerIP: "203.0.113.300" is not an IP address')
})

test('a Service that requests an IPv6 address of the provider is refused, and nothing is reserved', async () => {
  await running(here)
  assert.match(
    await refusal('six', { spec: { ipFamilies: ['IPv6'] } }),
    'spec.ipFamilies: "IPv6" requests an IPv6 address',
  )
  const both = await refusal('both', { spec: { ipFamilyPolicy: 'RequireDualStack' } })
  assert.match(both, 'spec.ipFamilyPolicy: "RequireDualStack" requests an IPv4 and an IPv6 address')
  const preferred = await stage.create(loadBalancer('preferred', { spec: { ipFamilyPolicy: 'PreferDualStack' } }))
  assert.is(await stage.settled('preferred'), preferred.spec.loadBalancerIP)
  await deleted('preferred')
})

test('a Service without name and generateName is refused by the API server, and nothing is reserved', async () => {
  await running(here)
  calls.clear()
  const { metadata: _named, ...rest } = loadBalancer('unnamed') as { metadata: object }
  // kubectl itself refuses a manifest without a name; other clients do not.
  const raw = ['create', '--raw', '/api/v1/namespaces/default/services', '-f', '-']
  const names = () => stage.run('get', 'services', '-o', 'name')
  const before = await names()
  assert.is((await stage.kubectl(raw, { ...rest, metadata: {} })).code, 1)
  assert.is(await names(), before, 'it is not stored under our name')
  assert.equal(calls.all(), [])
})

test("in a project at its limit the create is refused with the provider's words and what to do", async () => {
  await running(here)
  quota.set(0)
  calls.clear()
  const { code, stderr } = await create(loadBalancer('too-many'))
  quota.set(256)
  assert.is(code, 1)
  assert.match(stderr, refused)
  assert.match(stderr, `: ${dialect.words.quota}; `)
  assert.match(stderr, /delete addresses that are not used, or have the limit [a-z ]*raised/)
  assert.is(stage.calls(routes.reserve), 1)
  assert.equal([await stage.service('too-many'), await stage.record('too-many')], [undefined, undefined])
  // The next attempt succeeds.
  await stage.create(loadBalancer('too-many'))
  await deleted('too-many')
})

const checkTheKey = `check that the API key is valid and may read and write in project ${stage.project}`

test("with a revoked token the create is refused with the provider's words and what to do", async () => {
  await running(here)
  faults.add({ answer: 401 })
  const { code, stderr } = await create(loadBalancer('no-rights'))
  faults.clear()
  assert.is(code, 1)
  assert.match(stderr, `: ${dialect.words.unauthorized}; ${checkTheKey}`)
  assert.is(await stage.record('no-rights'), undefined)
})

test('annotations for another provider are stored with a warning that they have no effect', async () => {
  await running(here)
  const annotations = { 'service.beta.kubernetes.io/aws-load-balancer-type': 'nlb' }
  const { code, stderr } = await stage.kubectl(
    ['create', '--dry-run=server', '-f', '-'],
    loadBalancer('from-a-chart', { annotations }),
  )
  assert.is(code, 0, stderr)
  assert.match(
    stderr,
    /Warning: service[.]beta[.]kubernetes[.]io\/aws-load-balancer-type: an annotation of another provider/,
  )
})

if (elsewhere) {
  const { annotation } = elsewhere
  const orders = [
    { name: 'the place in the settings goes before annotations', env: here, output: place },
    {
      name: 'with EIP_SERVICE_LOCATION_WINS annotations go before the settings',
      env: { ...here, EIP_SERVICE_LOCATION_WINS: 'true' },
      output: elsewhere.place,
    },
  ]
  for (const { name, env, output } of orders) {
    test(name, async () => {
      await running(env)
      const annotations = { [annotation]: elsewhere.place }
      const { code, stderr } = await create(loadBalancer('placed', { annotations }))
      const warning = `annotation ${annotation}: "${elsewhere.place}" is ignored, ${placeSetting.name} says "${place}"`
      assert.equal([code, stderr.includes(`Warning: ${warning}`)], [0, output === place])
      assert.ok(stage.reserved().some((one) => one.place === output))
      await deleted('placed')
    })
  }
}

test('a misspelt location in the settings refuses each create with the location that was meant', async () => {
  await running({ ...here, [placeSetting.name]: misspelt.place })
  const annotations = elsewhere ? { [elsewhere.annotation]: elsewhere.place } : {}
  const output = await refusal('victim', { annotations })
  for (const words of [`setting ${placeSetting.name}: `, ...misspelt.expected]) assert.match(output, words)
})

test("with a read-only token the create is refused with the provider's words and what to do", async () => {
  await running({ ...here, [dialect.apiKey]: readOnly })
  calls.clear()
  const { code, stderr } = await create(loadBalancer('no-rights'))
  assert.is(code, 1)
  assert.match(stderr, `${dialect.cloudName} answered 403`)
  assert.match(stderr, checkTheKey)
  assert.not.match(stderr, readOnly)
  assert.equal([await stage.service('no-rights'), await stage.record('no-rights')], [undefined, undefined])
})

test.after(() => stage.close(account.cloud))

test.run()
