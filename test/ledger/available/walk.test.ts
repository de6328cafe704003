// Random walks with a warm pool of two and a provisioned address. Whatever happens, no two Services hold one address, no
// available address is held or deleted, and in the end the pool is full.
import { mock } from 'node:test'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { keyOf } from '../../../kube/objects.ts'
import { services } from '../../../kube/resource.ts'
import {
  type ElasticIP,
  elasticIPs,
  heldAddress,
  reservationIdOf,
  secondKey,
} from '../../../ledger/record/elastic-ip.ts'
import { elasticIPAnnotation } from '../../../ledger/record/names.ts'
import { isAvailable, isWarm } from '../../../ledger/record/source.ts'
import { makeLot, makeReservation, makeService } from '../../builders.ts'
import { comeToRest, create, familiesOf } from '../walk-life.ts'
import {
  type Move,
  type Walk,
  addressKeys,
  beginWalk,
  lead,
  leftByUsers,
  moves,
  names,
  one,
  ownReservations,
  reconcileSeconds,
  seedsOf,
  twoFamilies,
  walkOn,
  watchOthers,
} from '../walk-moves.ts'
import { usualPolicy } from '../harness.ts'
import { makeWalker } from '../walker.ts'

const size = 2
const own = makeReservation({ id: 'own-1', address: '198.51.100.7', marks: {} })
const chosen = { [elasticIPAnnotation]: 'office' }

const availableMoves: Move[] = [
  ...moves,
  {
    weight: 6,
    move: (walk) => create(walk, one(walk, walk.actors), makeService({ name: one(walk, names), annotations: chosen })),
  },
  {
    weight: 2,
    move: (walk) => create(walk, one(walk, walk.actors), makeService({ name: one(walk, names), ipFamilies: ['IPv6'] })),
  },
  {
    weight: 10,
    move: (walk) => create(walk, one(walk, walk.actors), makeService({ name: one(walk, names), ...twoFamilies(walk) })),
  },
  reconcileSeconds,
  { weight: 6, move: (walk) => lead(walk, 'the pool', () => walk.leader.fillPool()) },
  {
    weight: 14,
    move: (walk) => {
      const stored = walk.harness.api.stored(elasticIPs)
      const all = stored.flatMap(({ metadata, spec }) => [metadata.name, ...(spec.source ? [spec.source.name] : [])])
      const name = one(walk, all)
      if (name !== undefined) lead(walk, name, () => walk.leader.reconcileSource(name))
    },
  },
  {
    weight: 1,
    move: async ({ harness, random, log }) => {
      const name = `warm-da-${1 + random(size)}`
      log.push(`a user deletes ElasticIP ${name}`)
      await harness.api.client.remove(elasticIPs, { name })
    },
  },
  {
    weight: 1,
    move: ({ harness, random }) => void (harness.cloud.refusesMark = random(2) === 0 ? 'unavailable' : undefined),
  },
]

/** The invariants of every moment. */
function watch(walk: Walk): void {
  watchOthers(walk)
  const { harness } = walk
  const records = harness.api.stored(elasticIPs)
  const held = records.filter((record) => heldAddress(record) !== undefined && !isAvailableRecord(record))
  const holders = new Map<string, string>()
  for (const record of held) {
    const id = reservationIdOf(record) ?? ''
    assert.not(holders.has(id), `${id} is held by ${record.metadata.name} and ${holders.get(id)}`)
    holders.set(id, record.metadata.name)
  }
  const paid = new Set(harness.cloud.reserved().map(({ id }) => id))
  for (const source of records.filter(isAvailable)) {
    const id = reservationIdOf(source) ?? ''
    assert.not(holders.has(id), `${id} is held by ${holders.get(id)}, and ${source.metadata.name} is available`)
    assert.ok(paid.has(id), `${source.metadata.name} is available, but its ${id} was deleted`)
  }
  assert.ok(paid.has(own.id), 'the provisioned reservation was deleted')
}

function isAvailableRecord({ metadata }: ElasticIP): boolean {
  return !metadata.name.startsWith('default.')
}

/** The invariants once everything has come to rest. Returns how many reservations users left without a record. */
function judge({ harness, surprises, log }: Walk): number {
  assert.equal(surprises, [])
  const records = harness.api.stored(elasticIPs)
  const wanting = harness.api.stored(services).filter(({ spec }) => spec.loadBalancerClass === undefined)
  const owners = wanting.map((service) => harness.record(keyOf(service)))
  for (const [n, service] of wanting.entries()) {
    const name = service.metadata.annotations?.[elasticIPAnnotation]
    const another = owners.some((record, other) => other !== n && record?.spec.source?.name === name)
    if (name !== undefined && another && owners[n]?.status?.phase !== 'Bound') continue
    assert.is(owners[n]?.status?.phase, 'Bound', keyOf(service))
    assert.is(owners[n]?.spec.source?.name, name, keyOf(service))
  }
  const warm = records.filter(isWarm)
  // The record of a Service that waits for an address by name keeps the warm one that it had claimed before.
  const isKept = (name: string) =>
    owners.some((record) => record?.spec.source?.name === name && record.status?.phase !== 'Bound')
  assert.equal(
    warm.map((source) => `${source.metadata.name} ${isAvailable(source)}`).toSorted(),
    Array.from({ length: size }, (_, n) => `warm-da-${n + 1} ${!isKept(`warm-da-${n + 1}`)}`),
  )
  const left = leftByUsers({ harness, log })
  // A Service that waits for an address by name keeps what its record had requested before.
  const seconds = wanting.flatMap((service) => {
    const [, family] = familiesOf(service)
    return family ? [harness.record(secondKey(keyOf(service), family))] : []
  })
  for (const record of seconds) assert.is(record?.status?.phase, 'Bound', 'a second address')
  const plain = [...owners, ...seconds].filter((record) => record?.status?.reservationID && !record.spec.source).length
  const expected = plain + size + 1 + left.length
  assert.is(ownReservations({ harness }).length, expected, 'reservations and Services that want one')
  return left.length
}

async function walkFrom(seed: number, steps: number): Promise<number> {
  const walk = beginWalk(makeWalker(seed, { warmPool: size, policy: { ...usualPolicy, isDualStack: true } }), seed)
  walk.harness.cloud.put(own)
  walk.harness.api.put(elasticIPs, makeLot('office', { reservationID: own.id, reclaimPolicy: 'Retain' }))
  if (walk.random(2) === 0) walk.harness.setAdoptionMark()
  try {
    await walkOn(walk, { steps, moves: availableMoves, watch })
    walk.harness.cloud.refusesMark = undefined
    await comeToRest(walk, addressKeys)
    watch(walk)
    return judge(walk)
  } catch (error) {
    console.log(`seed ${seed}\n  ${walk.log.join('\n  ')}`)
    throw error
  }
}

const seeds = seedsOf({ first: 200, fell: [1048] })

test(`${seeds.length} random walks end with a full warm pool and no address in two places`, async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    let left = 0
    for (const seed of seeds) left += await walkFrom(seed, 500)
    if (seeds.length >= 40) assert.ok(left > 0, 'no walk reaches a reservation that a user left without a record')
  } finally {
    mock.timers.reset()
  }
})

test.run()
