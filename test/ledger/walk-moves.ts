// Events of a random walk: users, processes, calls and the cloud change something.
import * as assert from 'uvu/assert'
import type { Reservation } from '../../clouds/ports/cloud.ts'
import { keyOf } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import {
  elasticIPs,
  recordName,
  reservationIdOf,
  secondKeys,
  serviceOfAddress,
} from '../../ledger/record/elastic-ip.ts'
import { makeReservation, makeService } from '../builders.ts'
import { type ReserveFate, type ScriptedCloud, scriptedCloud } from '../fakes/scripted-cloud.ts'
import { serviceMarks } from '../../ledger/record/marks.ts'
import { addressAnnotation } from '../../ledger/record/names.ts'
import { create } from './walk-life.ts'
import type { Actor, Walker } from './walker.ts'
import { neverAborted, scheme } from './harness.ts'

export const names = ['web', 'db']
export const keys = names.map((name) => `default/${name}`)
/** The keys of every address that a Service may have. */
export const secondAddressKeys = keys.flatMap(secondKeys)
export const addressKeys = [...keys, ...secondAddressKeys]
const fates: ReserveFate[] = ['lost', 'unsaid', 'requested', 'doubled', 'quota', 'unavailable', 'rate-limit']

export type Walk = Walker & {
  leader: Actor
  busy: Map<string, Actor>
  generation: number
  /** A replica with a key of another account, and that account's cloud. */
  astray: { actor: Actor; cloud: ScriptedCloud }
}

/** Lets the leader work on one key, as its queue does: never twice at a time. */
export function lead(walk: Walk, key: string, work: () => Promise<unknown>): void {
  const { leader, busy } = walk
  if (leader.isFrozen || busy.get(key) === leader) return
  busy.set(key, leader)
  walk.go(leader, key, () => work().finally(() => busy.get(key) === leader && busy.delete(key)))
}

/** The leader works on one of the second addresses. */
export const reconcileSeconds: Move = {
  weight: 12,
  move: (walk) => {
    const key = one(walk, secondAddressKeys)
    lead(walk, key, () => walk.leader.reconcile(key))
  },
}

/** The spec of a Service of both families. */
export function twoFamilies(walk: Walk): Parameters<typeof makeService>[0] {
  return {
    ipFamilyPolicy: one(walk, ['PreferDualStack', 'RequireDualStack'] as const),
    ipFamilies: one<('IPv4' | 'IPv6')[]>(walk, [
      ['IPv4', 'IPv6'],
      ['IPv6', 'IPv4'],
    ]),
  }
}

function startAnother(walk: Walk): Actor {
  walk.generation += 1
  return walk.start(`p${walk.generation}`)
}

export const one = <T>({ random }: Walker, of: T[]): T => of[random(of.length)] as T

/** Lets one call or answer through; false when none waits. */
async function letThrough(walk: Walk): Promise<boolean> {
  const patient = walk.random(40) === 0
  const open = walk.gates.filter(({ of, isSlow }) => !of?.isFrozen && (patient || !isSlow))
  if (open.length === 0) return false
  await walk.openOne(one(walk, open), walk.random(40) === 0)
  return true
}

/** How the log says that a person removed a record without its release: what it knew of an order is lost. */
export const forcedDeletionOf = (name: string): string => `a user deletes ElasticIP ${name} by force`

export type Move = { weight: number; move: (walk: Walk) => void | Promise<void> }

/** Events that may come next in any walk. */
export const moves: Move[] = [
  { weight: 10, move: (walk) => create(walk, one(walk, walk.actors), makeService({ name: one(walk, names) })) },
  { weight: 1, move: (walk) => create(walk, walk.astray.actor, makeService({ name: one(walk, names) })) },
  {
    weight: 1,
    move: ({ harness, random, log }) => {
      const id = `foreign-${random(4)}`
      log.push(`another cluster of the project reserves ${id} for a Service of the same name`)
      const marks = serviceMarks({ ...scheme, cluster: 'cluster-2' }, keys[random(2)] ?? '')
      harness.cloud.put(makeReservation({ id, address: `192.0.2.${id.at(-1)}`, marks }))
    },
  },
  {
    weight: 3,
    move: async ({ harness, random, log }) => {
      const name = names[random(2)] ?? ''
      log.push(`a user deletes Service ${name}`)
      await harness.api.client.remove(services, { namespace: 'default', name })
    },
  },
  {
    weight: 1,
    move: ({ harness, random, log }) => {
      const [some = '', ...more] = harness.cloud.reserved().map(({ address = '' }) => address)
      log.push('a tenant requests every address, for a Service of another class')
      const annotations = { 'metallb.io/loadBalancerIPs': [some, ...more].join(), [addressAnnotation]: some }
      const forged = { namespace: 'tenant', name: `thief-${random(2)}`, uid: `thief-${random(1000)}` }
      harness.addService(makeService({ ...forged, annotations, loadBalancerIP: some, loadBalancerClass: 'tenant/own' }))
    },
  },
  {
    weight: 1,
    move: async ({ harness, random, log }) => {
      const name = `default.${names[random(2)]}`
      log.push(`a user deletes ElasticIP ${name}`)
      await harness.api.client.remove(elasticIPs, { name })
    },
  },
  {
    weight: 4,
    move: async ({ harness, random, log }) => {
      const name = `default.${names[random(2)]}`
      const isStored = harness.api.stored(elasticIPs).some(({ metadata }) => metadata.name === name)
      if (!isStored) return
      log.push(forcedDeletionOf(name))
      await harness.api.client.patch(elasticIPs, { name, patch: { merge: { metadata: { finalizers: null } } } })
      await harness.api.client.remove(elasticIPs, { name })
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
      const next = startAnother(walk)
      if (victim === walk.leader) walk.leader = next
    },
  },
  {
    weight: 2,
    move: (walk) => {
      const victim = one(walk, walk.actors)
      victim.isFrozen = !victim.isFrozen
      walk.log.push(`${victim.name} is ${victim.isFrozen ? 'frozen' : 'thawed'}`)
      if (walk.leader.isFrozen) walk.leader = walk.actors.find(({ isFrozen }) => !isFrozen) ?? startAnother(walk)
    },
  },
  {
    weight: 1,
    move: (walk) => {
      const { name, clock } = one(walk, walk.actors)
      clock.aheadMs = (walk.random(5) - 2) * 6 * 3_600_000
      walk.log.push(`the clock of ${name} is ahead by ${clock.aheadMs / 3_600_000} h`)
    },
  },
  { weight: 3, move: ({ harness, random }) => void harness.cloud.fates.push(fates[random(fates.length)] ?? 'lost') },
  { weight: 2, move: ({ harness, random }) => void (harness.cloud.listsLate = random(2) === 0) },
  { weight: 1, move: ({ harness }) => harness.cloud.settle() },
  { weight: 1, move: ({ harness, random }) => void (harness.cloud.unreadable = random(4) === 0) },
  { weight: 1, move: ({ harness, random }) => void (harness.cloud.deletesLate = random(2) === 0) },
  {
    weight: 2,
    move: ({ harness, random }) => {
      const requested = harness.cloud.reserved().filter(({ state }) => state === 'requested')
      for (const { id } of requested) if (random(2) === 0) harness.cloud.grant(id)
    },
  },
]

/** Takes a number of steps: in each a call goes through or is cut, or one of the moves happens. */
export async function walkOn(
  walk: Walk,
  of: { steps: number; moves: Move[]; watch: (walk: Walk) => void },
): Promise<void> {
  const candidates = of.moves.flatMap(({ weight, move }) => Array.from({ length: weight }, () => move))
  for (let step = 0; step < of.steps; step += 1) {
    const isQuiet = walk.random(10) === 0 || !(await letThrough(walk))
    if (isQuiet) await one(walk, candidates)(walk)
    watchHeartbeats(walk)
    of.watch(walk)
  }
}

/**
 * There is one cluster: whatever becomes of its calls and leaders, it takes no heartbeat of its own for another one's.
 */
function watchHeartbeats({ harness }: Walk): void {
  assert.not(harness.warnings.includes('ClusterIdInUse'), 'a heartbeat of our own looks strange')
}

/** The property of others in the project, and that of another account, stays as it is. */
export function watchOthers({ harness, astray }: Walk): void {
  const { released, marked } = harness.cloud
  const touched = [...released, ...marked].filter((id) => id.startsWith('foreign-'))
  assert.equal(touched, [], "another cluster's reservations are changed")
  assert.equal(astray.cloud.bought, [], 'bought in the project of another account')
}

/** The reservations that this cluster pays for. */
export function ownReservations({ harness }: Pick<Walk, 'harness'>): Reservation[] {
  return harness.cloud.reserved().filter(({ id }) => !id.startsWith('foreign-'))
}

/**
 * The reservations of ours that no record has. A user deleted the record that knew of an earlier request: what that
 * bought is kept for the Service, and reported.
 */
export function leftByUsers({ harness, log }: Pick<Walker, 'harness' | 'log'>): Reservation[] {
  const held = new Set(harness.api.stored(elasticIPs).map(reservationIdOf))
  const left = ownReservations({ harness }).filter(({ id }) => !held.has(id) && !id.startsWith('old-'))
  for (const { id, marks } of left) {
    const key = addressKeys.find((one) => serviceMarks(scheme, one)['service'] === marks['service']) ?? 'no Service'
    const owner = harness.api.stored(services).find((one) => keyOf(one) === serviceOfAddress(key))
    const isReported = harness.warnings.some(
      (warning) =>
        (owner && warning.startsWith(`${keyOf(owner)}: Reservation ${id} `)) ||
        // The cloud gave its address to another Service, too, which shows it.
        warning.includes(` in reservation ${id} as well as in `),
    )
    assert.ok(isReported, `${id} is reported`)
    const deleted = `a user deletes ElasticIP ${recordName(key)}`
    const isDeleted = log.some((line) => line.includes(deleted))
    assert.ok(isDeleted, `${id} was bought for a record that a user deleted`)
  }
  return left
}

/**
 * How clouds differ: whether ids and addresses are given again, and whether all attempts of an order get one address.
 */
const cloudRules: Partial<ScriptedCloud>[] = [{ recycles: true }, { repeatsOrders: true }, {}]

/** More walks, or another part of them: WALKS=3000 FROM=1000 node test/run.ts ledger/walk */
const { WALKS: walks, FROM: from = '1' } = process.env

/** The seeds of the walks to take: the first ones, and those that fell before. */
export function seedsOf({ first, fell }: { first: number; fell: number[] }): number[] {
  const some = Array.from({ length: Number(walks ?? first) }, (_, n) => Number(from) + n)
  return walks === undefined ? [...new Set([...some, ...fell])] : some
}

/** A walk with three processes: one leads, one serves reviews, and one does so with a key of another account. */
export function beginWalk(walker: Walker, seed: number): Walk {
  const { harness } = walker
  Object.assign(harness.cloud, cloudRules[seed % cloudRules.length])
  harness.setProject()
  // Only what a record holds: where none knows an address, the second grant is found by a sweep, and a person decides.
  harness.cloud.doubles = () =>
    harness.api
      .stored(elasticIPs)
      .flatMap(({ status = {} }) => (status.deletionRequestedAt ? [] : (status.address ?? [])))
  const leader = walker.start('p1')
  const cloud = scriptedCloud(() => harness.now())
  const astray = { actor: walker.start('astray', { project: 'project-2', cloud }), cloud }
  // Nobody kills it, and it never leads.
  walker.actors.pop()
  const walk: Walk = Object.assign(walker, { leader, busy: new Map(), generation: 1, astray })
  startAnother(walk)
  return walk
}
