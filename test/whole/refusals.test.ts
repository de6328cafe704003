import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { startEquinixMetal } from '../../sandbox/clouds/equinix-metal/server.ts'
import { type Facts, facility, loadBalancer, metro, reclaim } from './manifests.ts'
import { openWorld, routes } from './world.ts'

const project = randomUUID()
const [token, readOnly] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')]
const cloud = await startEquinixMetal({
  projects: [{ id: project }],
  tokens: [
    { token, projects: [project] },
    { token: readOnly, projects: [project], readOnly: true },
  ],
})
const world = await openWorld({ account: { cloud, project, token } })
const { calls, faults, quota } = cloud.door

const refused = 'admission webhook "reserve.eip-admission.dev" denied the request: '

/** What the terminal says when a Service is refused; it must be the same in a dry run, and cost nothing. */
async function refusal(name: string, facts: Facts, verb = ['create']): Promise<string> {
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

/** Runs the product with other settings for as long as `play` takes. */
async function running(env: Record<string, string>, play: () => Promise<void>): Promise<void> {
  const product = await world.startSwept({ env })
  try {
    await play()
  } finally {
    await product.stop()
  }
}

test('a cluster without a location tells who has none which annotations and settings there are', () =>
  running({}, async () => {
    const names = [facility, metro, 'METAL_FACILITY_NAME', 'METAL_METRO_NAME']
    for (const verb of [['create'], ['apply'], ['apply', '--server-side']]) {
      const said = await refusal('nowhere', {}, verb)
      for (const name of names) assert.match(said, name)
    }
    const diff = await world.kubectl(['diff', '-f', '-'], loadBalancer('nowhere'))
    assert.ok(diff.code > 0)
    for (const name of names) assert.match(diff.stderr, name)
  }))

test('an unknown metro is refused with the annotation, the value, the nearest one and the list', () =>
  running({}, async () => {
    const said = await refusal('typo', { annotations: { [metro]: 'dallas' } })
    assert.match(said, `Service default/typo: annotation ${metro}: "dallas" is not a known metro, did you mean "da"?`)
    assert.match(said, 'known: ')
    assert.match(said, 'sv (Silicon Valley)')
    assert.match(await refusal('typo', { annotations: { [facility]: 'da1' } }), `annotation ${facility}: "da1"`)
    // A metro that the same cluster knows is taken, however it is written.
    calls.clear()
    await world.create(loadBalancer('spelt', { annotations: { [metro]: 'SV' } }))
    assert.equal(
      world.reserved().map(({ place }) => place),
      ['sv'],
    )
    await world.must('delete', 'service', 'spelt')
    await world.gone('spelt')
  }))

test('an annotation that nobody knows is refused with the one that was meant', () =>
  running({ METAL_METRO_NAME: 'da' }, async () => {
    const said = await refusal('typo', { annotations: { 'metal.equinix.com/eip-metr': 'sv' } })
    assert.match(said, `metal.equinix.com/eip-metr: "sv" is not known, did you mean ${metro}?`)
    const ours = await refusal('typo', { annotations: { 'eip-admission.dev/reclaim-polcy': 'Retain' } })
    assert.match(ours, `did you mean ${reclaim}?`)
  }))

test('all mistakes of a Service are told at once', () =>
  running({}, async () => {
    const annotations = { [metro]: 'paris', [reclaim]: 'Keep', 'metal.equinix.com/eip-metr': 'sv' }
    const said = await refusal('wrong', { annotations })
    assert.match(said, 'Service default/wrong: 3 mistakes:')
    for (const value of ['"paris"', '"Keep"', 'metal.equinix.com/eip-metr']) assert.match(said, value)
  }))

test('an address of their own that is no address is refused', () =>
  running({ METAL_METRO_NAME: 'da' }, async () => {
    assert.match(
      await refusal('own', { spec: { loadBalancerIP: '203.0.113.300' } }),
      'spec.loadBalancerIP: "203.0.113.300"',
    )
  }))

test('a mistake in the settings for the location is told to who creates a Service', () =>
  running({ METAL_METRO_NAME: 'dallas' }, async () => {
    const said = await refusal('victim', { annotations: { [metro]: 'sv' } })
    assert.match(said, 'setting METAL_METRO_NAME: "dallas" is not a known metro, did you mean "da"?')
  }))

const orders: { name: string; env: Record<string, string>; annotations: Record<string, string>; place: string }[] = [
  {
    name: 'a facility of the settings goes before their metro',
    env: { METAL_FACILITY_NAME: 'ny5', METAL_METRO_NAME: 'da' },
    annotations: { [metro]: 'sv' },
    place: 'ny5',
  },
  {
    name: 'the metro of the settings goes before annotations',
    env: { METAL_METRO_NAME: 'da' },
    annotations: { [metro]: 'sv' },
    place: 'da',
  },
  {
    name: "a Service's facility goes before its metro",
    env: {},
    annotations: { [facility]: 'ny5', [metro]: 'sv' },
    place: 'ny5',
  },
  {
    name: 'with EIP_SERVICE_LOCATION_WINS annotations go before the settings',
    env: { METAL_METRO_NAME: 'da', EIP_SERVICE_LOCATION_WINS: 'true' },
    annotations: { [metro]: 'sv' },
    place: 'sv',
  },
]
for (const { name, env, annotations, place } of orders) {
  test(name, () =>
    running(env, async () => {
      const { code, stderr } = await world.kubectl(['create', '-f', '-'], loadBalancer('placed', { annotations }))
      const ignored = Object.entries(annotations).find(([, value]) => value !== place)
      assert.is(code, 0)
      if (ignored) assert.match(stderr, `Warning: annotation ${ignored[0]}: "${ignored[1]}" is ignored`)
      assert.equal(
        world.reserved().map((one) => one.place),
        [place],
      )
      await world.must('delete', 'service', 'placed')
      await world.gone('placed')
    }),
  )
}

test('a Service that has its address is told that it cannot move, and may change all else', () =>
  running({}, async () => {
    await world.create(loadBalancer('fixed', { annotations: { [metro]: 'da' } }))
    const address = await world.settled('fixed')
    const { code, stderr } = await world.kubectl(['annotate', '--overwrite', 'service', 'fixed', `${metro}=sv`])
    assert.is(code, 1)
    assert.match(stderr, `its address ${address} is in da and cannot move to sv`)
    await world.must('label', 'service', 'fixed', 'team=web')
    assert.is(await world.settled('fixed'), address)
    await world.must('delete', 'service', 'fixed')
    await world.gone('fixed')
  }))

test('an address that is kept in one place is not handed out as one in another', () =>
  running({}, async () => {
    const kept = (place: string) => loadBalancer('kept', { annotations: { [reclaim]: 'Retain', [metro]: place } })
    await world.create(kept('da'))
    const address = await world.settled('kept')
    await world.must('delete', 'service', 'kept')
    const elsewhere = await world.kubectl(['create', '-f', '-'], kept('sv'))
    const { spec } = (await world.service('kept')) ?? {}
    await world.must('delete', 'service', 'kept', '--ignore-not-found')
    await world.must('delete', 'eip', 'default.kept', '--timeout=20s')
    assert.is.not(spec?.loadBalancerIP, address)
    assert.match(elsewhere.stderr, address)
  }))

test('an address that was reserved for a Service that was refused is not handed out as one in another place', () =>
  running({}, async () => {
    const annotations = (place: string) => ({ annotations: { [metro]: place } })
    const broken = { ...annotations('da'), spec: { ports: [{ port: 70_000 }] } }
    assert.is((await world.kubectl(['create', '-f', '-'], loadBalancer('moves', broken))).code, 1)
    const [inDallas] = world.reserved()
    const { stderr } = await world.kubectl(['create', '-f', '-'], loadBalancer('moves', annotations('sv')))
    const { spec } = (await world.service('moves')) ?? {}
    await world.must('delete', 'service', 'moves', '--ignore-not-found')
    await world.must('delete', 'eip', 'default.moves', '--ignore-not-found', '--timeout=20s')
    assert.is.not(spec?.loadBalancerIP, inDallas?.address)
    assert.ok(spec?.loadBalancerIP ?? stderr.includes(inDallas?.address ?? 'nothing'))
  }))

test('a Service that was there with its mistake can still be labelled, mended and deleted', async () => {
  await running({ METAL_LOAD_BALANCER: 'none' }, () =>
    world.create(loadBalancer('old', { annotations: { [metro]: 'paris' } })).then(() => undefined),
  )
  await running({}, async () => {
    await world.must('label', 'service', 'old', 'team=web')
    assert.is((await world.kubectl(['annotate', '--overwrite', 'service', 'old', `${metro}=rome`])).code, 1)
    await world.must('annotate', '--overwrite', 'service', 'old', `${metro}=da`)
    await world.settled('old')
    await world.must('delete', 'service', 'old')
    await world.gone('old')
  })
})

test("a project at its limit refuses in the terminal, with the cloud's words and what to do", () =>
  running({ METAL_METRO_NAME: 'da' }, async () => {
    quota.set(world.reserved().length)
    calls.clear()
    const { code, stderr } = await world.kubectl(['create', '-f', '-'], loadBalancer('too-many'))
    quota.set(256)
    assert.is(code, 1)
    assert.match(stderr, refused)
    assert.match(stderr, 'The request exceeds the quota of the project')
    assert.match(stderr, 'have the limit of the project raised')
    assert.is(world.calls(routes.reserve), 1)
    assert.equal([await world.service('too-many'), await world.record('too-many')], [undefined, undefined])
    // Nothing stays in the way of the next attempt.
    await world.create(loadBalancer('too-many'))
    await world.must('delete', 'service', 'too-many')
    await world.gone('too-many')
  }))

test("a token that may only read refuses in the terminal, with the cloud's words and what to do", () =>
  running({ METAL_METRO_NAME: 'da', METAL_API_KEY: readOnly }, async () => {
    calls.clear()
    const { code, stderr } = await world.kubectl(['create', '-f', '-'], loadBalancer('no-rights'))
    assert.is(code, 1)
    assert.match(stderr, 'answered 403')
    assert.match(stderr, `check that the API key is valid and may read and write in project ${project}`)
    assert.not.match(stderr, readOnly)
    assert.equal([await world.service('no-rights'), await world.record('no-rights')], [undefined, undefined])
  }))

test('a token that was revoked refuses in the terminal', () =>
  running({ METAL_METRO_NAME: 'da' }, async () => {
    faults.add({ answer: 401 })
    const { code, stderr } = await world.kubectl(['create', '-f', '-'], loadBalancer('no-rights'))
    faults.clear()
    assert.is(code, 1)
    assert.match(stderr, 'Invalid authentication token')
    assert.is(await world.record('no-rights'), undefined)
  }))

test('the log shows no missing right and no secret', async () => {
  assert.equal(world.reserved(), [])
  await world.close(cloud)
})

test.run()
