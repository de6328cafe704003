// The guardian of a managed balancer in front of three API servers: its client and the simulated service are the real ones.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { equinixMetalBalancers } from '../../../clouds/equinix-metal/balancers/client.ts'
import { CloudError } from '../../../clouds/ports/cloud.ts'
import { Secret } from '../../../lib/secret.ts'
import { balancerAddress } from '../../../controllers/control-plane/control-plane-address.ts'
import { type BalancerGuardianOptions, balancerGuardian } from '../../../controllers/control-plane/balancer-guardian.ts'
import { knownAddress } from '../../../controllers/control-plane/known-address.ts'
import type { GuardedNode } from '../../../controllers/control-plane/control-plane-nodes.ts'
import { type ProbeHistory, noProbes } from '../../../controllers/moves/probe-history.ts'
import { wakeUp } from '../../../controllers/control-plane/wake-up.ts'
import { type FakeClock, fakeClock } from '../../kube/fake-clock.ts'
import { quickClock } from '../../kube/quick-clock.ts'
import { startEquinixMetal } from '../../../sandbox/clouds/equinix-metal/server.ts'
import { recordedLog } from '../../kube/recorded-log.ts'
import { eventually, unchanging } from '../../whole/eventually.ts'

const clock = quickClock(8)
const project = '0b9c6f1e-6c1d-4d0e-8f55-0a3c5a1b2c3d'
const well: ProbeHistory = { ...noProbes, successes: 20 }
const bad: ProbeHistory = { ...noProbes, failures: 9, formerSuccesses: 20 }
const names = ['a', 'b', 'c'] as const
const externalOf = (name: string) => `198.51.100.${name.charCodeAt(0)}`
const addressesOf = (...of: string[]) => of.map(externalOf).toSorted()

type World = Awaited<ReturnType<typeof openWorld>>

async function openWorld(readIntervalMs = 60_000) {
  const metal = await startEquinixMetal({
    projects: [{ id: project }],
    tokens: [{ token: 'key', projects: [project] }],
  })
  const urls = { baseUrl: `${metal.url}/lb`, tokensUrl: `${metal.url}/iam` }
  const balancers = equinixMetalBalancers({ apiKey: new Secret('key'), projectId: project, userAgent: 'test', ...urls })
  const { signal } = new AbortController()
  const id = await balancers.create({ name: 'control plane', location: 'da' }, signal)
  const probes: Record<string, ProbeHistory> = { a: well, b: well, c: well }
  const leaving: Record<string, number> = {}
  const nodes = (): GuardedNode[] =>
    names.map((name) => {
      const endpoint = { address: '10.0.0.1', port: 6443 }
      return { name, machine: name, endpoint, leaving: leaving[name] ?? 0, probes: probes[name] ?? noProbes }
    })
  const attempts: (string | undefined)[] = []
  const log = recordedLog()
  const known = knownAddress({
    port: balancerAddress(balancers, id),
    now: () => clock.now(),
  })
  const guardian = balancerGuardian({
    balancers,
    id,
    port: 443,
    known,
    nodes,
    external: externalOf,
    ownNode: 'a',
    rules: { failures: 3, successes: 10 },
    readIntervalMs,
    probeIntervalMs: 100,
    wakeUp: wakeUp(clock),
    clock,
    log,
    onTurn: () => {},
    onAttempt: (error) => void attempts.push(error),
  })
  const ends = new AbortController()
  let leaseLeftMs = 10_000
  let led: Promise<void> | undefined
  const shown = () =>
    (metal.control.balancers.pools() as unknown as { origins: { target: string; port_number: number }[] }[]).flatMap(
      ({ origins }) => origins,
    )
  return {
    id,
    balancers,
    control: metal.control,
    guardian,
    known,
    probes,
    leaving,
    attempts,
    lead: () => (led = guardian.lead(ends.signal, () => leaseLeftMs)),
    setLease: (ms: number) => void (leaseLeftMs = ms),
    origins: (...of: string[]) =>
      eventually(
        `the origins are ${of.join()}`,
        (observe) => {
          const targets = observe(shown().map(({ target }) => target)).toSorted()
          return targets.join() === addressesOf(...of).join() || undefined
        },
        8_000,
      ),
    listens: () =>
      eventually('the balancer listens', (observe) => {
        const [balancer] = metal.control.balancers.all() as unknown as { ports: { number: number }[] }[]
        return observe(balancer?.ports.map(({ number }) => number).join()) === '443' || undefined
      }),
    problem: (words: string) =>
      eventually(`a problem says: ${words}`, (observe) => observe(guardian.problem())?.includes(words) || undefined),
    shown,
    warned: () => log.lines.flatMap(({ level, fields }) => (level === 'warn' ? fields['problem'] : [])),
    async close() {
      ends.abort()
      await led
      await metal.close()
    },
  }
}

function inWorld(title: string, run: (world: World) => Promise<void>, readIntervalMs?: number): void {
  test(title, async () => {
    const world = await openWorld(readIntervalMs)
    try {
      await run(world)
    } finally {
      await world.close()
    }
  })
}

const pause = (ms: number) => clock.sleep(ms)

inWorld('a balancer without the port gets it, with every good node at the port of its API server', async (world) => {
  void world.lead()
  await world.origins('a', 'b', 'c')
  assert.ok(world.shown().every(({ port_number }) => port_number === 6443))
  await world.listens()
  assert.is(world.known.current()?.id, world.id)
})

inWorld('while nothing fails nothing is written, and the provider is hardly read', async (world) => {
  void world.lead()
  await world.origins('a', 'b', 'c')
  // The port comes after the origins, and a look after that.
  await world.listens()
  await unchanging('the guardian', async () => world.control.calls.all().length, 500)
  world.control.calls.clear()
  await pause(1_000)
  assert.equal(world.control.calls.all(), [])
})

inWorld(
  'a guardian that leads again sees what another one changed meanwhile',
  async ({ balancers, control, guardian, id, lead, listens, origins }) => {
    const term = new AbortController()
    const led = guardian.lead(term.signal, () => 10_000)
    await origins('a', 'b', 'c')
    await listens()
    await unchanging('the guardian', async () => control.calls.all().length, 500)
    term.abort()
    await led
    await removeOriginB({ balancers, id })
    await origins('a', 'c')
    void lead()
    await origins('a', 'b', 'c')
  },
  600_000,
)

inWorld(
  'an origin that a person removes is back after the next read',
  async (world) => {
    void world.lead()
    await world.origins('a', 'b', 'c')
    await world.listens()
    await removeOriginB(world)
    await world.origins('a', 'b', 'c')
  },
  2_000,
)

async function removeOriginB({ balancers, id }: Pick<World, 'balancers' | 'id'>): Promise<void> {
  const { signal } = new AbortController()
  const [pool = ''] = (await balancers.get(id, signal))?.ports.flatMap(({ pools }) => pools) ?? []
  const other = (await balancers.origins(pool, signal))?.find(({ address }) => address === externalOf('b'))
  await balancers.removeOrigin(other?.id ?? '', signal)
}

inWorld('an API server that fails leaves, and comes back when it is well; no pool is made again', async (world) => {
  void world.lead()
  await world.origins('a', 'b', 'c')
  world.probes.b = bad
  await world.origins('a', 'c')
  world.probes.b = well
  await world.origins('a', 'b', 'c')
  assert.is(world.control.calls.count('POST /lb/v1/projects/*/loadbalancers/pools'), 1)
})

inWorld('a node that will go leaves', async (world) => {
  void world.lead()
  await world.origins('a', 'b', 'c')
  world.leaving.a = 2
  await world.origins('b', 'c')
})

inWorld('while all fail, the origins stay', async (world) => {
  void world.lead()
  await world.origins('a', 'b', 'c')
  for (const name of names) world.probes[name] = bad
  await pause(3_000)
  await world.origins('a', 'b', 'c')
  await world.problem('no control-plane node is healthy')
  await pause(1_000)
  const said = world.warned()
  assert.equal(said, [...new Set(said)], 'a problem that stays is told once')
})

inWorld('what an operator has at other ports stays, and so does a pool of another name at this port', async (world) => {
  const { signal } = new AbortController()
  const { balancers, id } = world
  const [theirs, own] = [await balancers.addPool('theirs', signal), await balancers.addPool('own', signal)]
  await balancers.addOrigin(theirs, { name: 'web', address: '192.0.2.1', port: 80 }, signal)
  await balancers.addPort(id, { name: 'web', number: 80, pool: theirs }, signal)
  await balancers.addOrigin(own, { name: 'old', address: '192.0.2.9', port: 6443 }, signal)
  await balancers.addPort(id, { name: 'api', number: 443, pool: own }, signal)
  void world.lead()
  await eventually(
    'the pool of the operator has the nodes',
    async (observe) => {
      const now = observe((await balancers.origins(own, signal)) ?? []).map(({ address }) => address)
      return now.toSorted().join() === addressesOf('a', 'b', 'c').join() || undefined
    },
    8_000,
  )
  assert.equal(
    (await balancers.origins(theirs, signal))?.map(({ address }) => address),
    ['192.0.2.1'],
  )
  assert.is(world.control.balancers.pools().length, 2)
})

inWorld('nothing is written while the lease could end before the answer', async (world) => {
  world.control.calls.clear()
  world.setLease(1_000)
  void world.lead()
  await world.problem('the lease ends too soon')
  await pause(1_500)
  assert.equal(world.control.calls.count('POST /lb/**'), 0)
  world.setLease(10_000)
  await world.origins('a', 'b', 'c')
})

inWorld('answers that are lost double nothing', async (world) => {
  for (const on of ['POST /lb/v1/projects/*/loadbalancers/pools', 'POST /lb/v1/loadbalancers/*/ports'])
    world.control.faults.add({ on, answer: 500, done: true, times: 1 })
  world.control.faults.add({ on: 'POST /lb/v1/loadbalancers/pools/*/origins', answer: 'reset', done: true, times: 1 })
  void world.lead()
  await world.origins('a', 'b', 'c')
  await eventually('there is one pool and one port', (observe) => {
    const [balancer] = world.control.balancers.all() as unknown as { ports: object[] }[]
    return observe([world.control.balancers.pools().length, balancer?.ports.length]).join() === '1,1' || undefined
  })
  await pause(1_500)
  assert.equal([world.control.balancers.pools().length, world.shown().length], [1, 3])
})

inWorld('a balancer that does not exist is not created, and a problem names it', async (world) => {
  world.control.balancers.vanish(world.id)
  void world.lead()
  await world.problem(`the project has no load balancer ${world.id}. eip-admission creates none`)
  assert.equal(world.control.balancers.all(), [])
})

inWorld(
  'a guardian that cannot read the provider lets another one lead, and leaves a free lease to others',
  async (world) => {
    world.control.faults.add({ on: 'GET /lb/**', answer: 500 })
    await world.lead()
    assert.is(world.guardian.hesitationMs(), 1_500)
    world.control.faults.clear()
    void world.lead()
    await world.origins('a', 'b', 'c')
    assert.is(world.guardian.hesitationMs(), 0)
  },
)

/** A guardian of a balancer that the provider never shows. */
const blindGuardian = (slow: FakeClock, more: Partial<BalancerGuardianOptions> = {}) =>
  balancerGuardian({
    balancers: { get: () => Promise.reject(new Error('down')) } as never,
    id: 'b',
    port: 443,
    known: { ageMs: () => 0, forget: () => {} } as never,
    nodes: () => [],
    external: externalOf,
    ownNode: 'a',
    rules: { failures: 3, successes: 10 },
    readIntervalMs: 60_000,
    probeIntervalMs: 1_000,
    wakeUp: wakeUp(slow),
    clock: slow,
    log: recordedLog(),
    onTurn() {},
    onAttempt() {},
    ...more,
  })

test('the guardian turns at each interval, whatever the provider answers', async () => {
  const [slow, ends] = [fakeClock(), new AbortController()]
  let [turns, forgotten] = [0, 0]
  const guardian = blindGuardian(slow, {
    known: { ageMs: () => 0, forget: () => void (forgotten += 1) } as never,
    onTurn() {
      turns += 1
      // A loop without its pause would never let this test end.
      if (turns > 1_000) ends.abort()
    },
  })
  const led = guardian.lead(ends.signal, () => 10_000)
  await slow.pass(60_500)
  ends.abort()
  await slow.pass(1_000)
  await led
  assert.is(turns, 61)
  assert.is(forgotten, 1, 'another replica may have changed the balancer before this term')
})

test('a provider that asks for a pause gets it', async () => {
  const [slow, ends] = [fakeClock(), new AbortController()]
  let asked = 0
  const get = () => {
    asked += 1
    return Promise.reject(new CloudError('429', { fault: 'rate-limit', outcome: 'nothing', retryAfterMs: 60_000 }))
  }
  const guardian = blindGuardian(slow, { balancers: { get } as never })
  const led = guardian.lead(ends.signal, () => 10_000)
  await slow.pass(59_000)
  assert.is(asked, 1)
  await slow.pass(2_000)
  assert.is(asked, 2)
  ends.abort()
  await slow.pass(1_000)
  await led
})

test('a guardian that yields in vain leads for twice as long before it yields again', async () => {
  const [slow, { signal }] = [fakeClock(), new AbortController()]
  const endpoint = { address: '10.0.0.1', port: 6443 }
  const nodes = ['a', 'b'].map((name): GuardedNode => ({ name, machine: name, endpoint, leaving: 0, probes: well }))
  const guardian = blindGuardian(slow, { nodes: () => nodes })
  const begun: number[] = []
  const ended: number[] = []
  for (let n = 0; n < 3; n += 1) {
    begun.push(slow.now())
    void guardian.lead(signal, () => 10_000).then(() => ended.push(slow.now()))
    for (let turns = 0; turns < 600 && ended.length === n; turns += 1) await slow.pass(1_000)
  }
  const seconds = ended.map((ms, n) => Math.round((ms - (begun[n] ?? 0)) / 1_000))
  const [, second = 0, third = 0] = seconds
  assert.ok(second >= 118 && third >= 238, seconds.join(', '))
})

test.run()
