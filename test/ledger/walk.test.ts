// Random walks: two processes, crashes, frozen processes, lost calls, a cloud with moods. Whatever happens, in the end
// every Service that wants an address has one, and nobody pays for another.
import { mock } from 'node:test'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { keyOf } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { elasticIPs } from '../../ledger/elastic-ip.ts'
import { serviceMarks } from '../../ledger/marks.ts'
import { addressAnnotation } from '../../ledger/names.ts'
import { makeReservation, makeService } from '../builders.ts'
import type { ReserveFate } from '../fakes/scripted-cloud.ts'
import { comeToRest, create } from './walk-life.ts'
import { type Actor, makeWalker, type Walker } from './walker.ts'
import { neverAborted, scheme } from './world.ts'

const names = ['web', 'db']
const keys = names.map((name) => `default/${name}`)
const fates: ReserveFate[] = ['lost', 'unsaid', 'requested', 'quota', 'unavailable', 'rate-limit']

type Walk = Walker & { leader: Actor; busy: Map<string, Actor>; generation: number }

/** The leader's work on one key; the queue has none twice at a time. */
function lead(walk: Walk, key: string, work: () => Promise<unknown>): void {
  const { leader, busy } = walk
  if (leader.isFrozen || busy.get(key) === leader) return
  busy.set(key, leader)
  walk.go(leader, key, () => work().finally(() => busy.get(key) === leader && busy.delete(key)))
}

function another(walk: Walk): Actor {
  walk.generation += 1
  return walk.start(`p${walk.generation}`)
}

const one = <T>({ random }: Walker, of: T[]): T => of[random(of.length)] as T

/** Lets one call or answer through; false when nobody waits. */
async function letThrough(walk: Walk): Promise<boolean> {
  const patient = walk.random(40) === 0
  const open = walk.gates.filter(({ of, isSlow }) => !of?.isFrozen && (patient || !isSlow))
  if (open.length === 0) return false
  await walk.openOne(one(walk, open), walk.random(40) === 0)
  return true
}

const moves: { weight: number; move: (walk: Walk) => void | Promise<void> }[] = [
  { weight: 10, move: (walk) => create(walk, one(walk, walk.actors), makeService({ name: one(walk, names) })) },
  {
    weight: 3,
    move: async ({ world, random, log }) => {
      const name = names[random(2)] ?? ''
      log.push(`somebody deletes Service ${name}`)
      await world.api.client.remove(services, { namespace: 'default', name })
    },
  },
  {
    weight: 1,
    move: async ({ world, random, log }) => {
      const name = `default.${names[random(2)]}`
      log.push(`somebody deletes ElasticIP ${name}`)
      await world.api.client.remove(elasticIPs, { name })
    },
  },
  {
    weight: 12,
    move: (walk) => {
      const key = one(walk, keys)
      lead(walk, key, () => walk.leader.reconcile(key))
    },
  },
  { weight: 4, move: (walk) => lead(walk, 'a sweep', () => walk.leader.sweep(neverAborted)) },
  { weight: 8, move: (walk) => walk.pass(1_000 * (1 + walk.random(9))) },
  { weight: 2, move: (walk) => walk.pass(41_000) },
  { weight: 1, move: (walk) => walk.pass(16 * 60_000) },
  {
    weight: 1,
    move: async (walk) => {
      const victim = one(walk, walk.actors)
      await walk.crash(victim)
      const next = another(walk)
      if (victim === walk.leader) walk.leader = next
    },
  },
  {
    weight: 2,
    move: (walk) => {
      const victim = one(walk, walk.actors)
      victim.isFrozen = !victim.isFrozen
      walk.log.push(`${victim.name} is ${victim.isFrozen ? 'frozen' : 'thawed'}`)
      if (walk.leader.isFrozen) walk.leader = walk.actors.find(({ isFrozen }) => !isFrozen) ?? another(walk)
    },
  },
  { weight: 3, move: ({ world, random }) => void world.sky.fates.push(fates[random(fates.length)] ?? 'lost') },
  { weight: 2, move: ({ world, random }) => void (world.sky.listsLate = random(2) === 0) },
  { weight: 1, move: ({ world }) => world.sky.settle() },
  { weight: 1, move: ({ world, random }) => void (world.sky.unreadable = random(4) === 0) },
  { weight: 1, move: ({ world, random }) => void (world.sky.deletesLate = random(2) === 0) },
  {
    weight: 2,
    move: ({ world, random }) => {
      const requested = world.sky.reserved().filter(({ state }) => state === 'requested')
      for (const { id } of requested) if (random(2) === 0) world.sky.grant(id)
    },
  },
]
const lots = moves.flatMap(({ weight, move }) => Array.from({ length: weight }, () => move))

/** What must hold at every moment. */
function watch(walk: Walk): void {
  const { world } = walk
  for (const key of keys) {
    const { service } = serviceMarks(scheme, key)
    const paid = world.sky.bought.filter(({ id, marks }) => marks['service'] === service && isPaid(world.sky, id))
    assert.ok(paid.length <= 1, `${key} has ${paid.map(({ id }) => id).join(' and ')}`)
  }
  for (const service of world.api.stored(services)) {
    const record = world.record(keyOf(service))
    if (record?.status?.phase !== 'Bound' || record.spec.claimRef?.uid !== service.metadata.uid) continue
    const { reservationID = '' } = record.status
    assert.ok(isPaid(world.sky, reservationID), `${keyOf(service)} is bound to ${reservationID}, which was given back`)
  }
}

function isPaid(sky: Walk['world']['sky'], id: string): boolean {
  return sky.reserved().some((one) => one.id === id && one.state !== 'denied')
}

/** What must hold when everything has come to rest. */
function judge({ world, surprises }: Walk): void {
  assert.equal(surprises, [])
  const wanting = world.api.stored(services)
  for (const service of wanting) {
    const record = world.record(keyOf(service))
    assert.is(record?.status?.phase, 'Bound', keyOf(service))
    assert.is(service.metadata.annotations?.[addressAnnotation], record?.status?.address)
    const reserved = world.sky.reserved().find(({ id }) => id === record?.status?.reservationID)
    assert.is(reserved?.address, record?.status?.address, `${keyOf(service)} shows what is not reserved`)
  }
  assert.equal(world.sky.reserved().length, wanting.length, 'reservations and Services that want one')
  assert.equal(world.api.stored(elasticIPs).length, wanting.length, 'records and Services that want one')
}

async function walkFrom(seed: number, steps: number): Promise<void> {
  const walker = makeWalker(seed)
  const walk: Walk = Object.assign(walker, { leader: walker.start('p1'), busy: new Map(), generation: 1 })
  another(walk)
  seedOf(walk)
  try {
    for (let step = 0; step < steps; step += 1) {
      const isQuiet = walk.random(10) === 0 || !(await letThrough(walk))
      if (isQuiet) await one(walk, lots)(walk)
      watch(walk)
    }
    await comeToRest(walk, keys)
    watch(walk)
    judge(walk)
  } catch (error) {
    console.log(`seed ${seed}\n  ${walk.log.join('\n  ')}`)
    throw error
  }
}

/** What a predecessor left. */
function seedOf({ world, random }: Walk): void {
  if (random(2) === 0) return world.adopted()
  for (let n = 0; n < random(4); n += 1) {
    const marks = serviceMarks(scheme, keys[n % 2] ?? '')
    world.sky.put(makeReservation({ id: `old-${n}`, address: `198.51.100.${n}`, marks }))
  }
  return undefined
}

/** More of them, or another part of them: WALKS=3000 FROM=1000 node test/run.ts ledger/walk */
const walks = Number(process.env['WALKS'] ?? 120)
const from = Number(process.env['FROM'] ?? 1)

test(`${walks} random walks end with one address for every Service that wants one, and none besides`, async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    for (let seed = from; seed < from + walks; seed += 1) await walkFrom(seed, 400)
  } finally {
    mock.timers.reset()
  }
})

test.run()
