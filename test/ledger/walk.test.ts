// Random walks: two processes, crashes, frozen processes, lost calls, a cloud with moods. Whatever happens, in the end
// every Service that wants an address has one, and the project has no other.
import { mock } from 'node:test'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { keyOf } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { parseIpAddress } from '../../lib/ip-address.ts'
import { elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { serviceMarks } from '../../ledger/record/marks.ts'
import { addressAnnotation } from '../../ledger/record/names.ts'
import { makeReservation, makeService } from '../builders.ts'
import { comeToRest, create } from './walk-life.ts'
import {
  type Move,
  type Walk,
  beginWalk,
  keys,
  leftByUsers,
  moves,
  names,
  one,
  ownReservations,
  walkOn,
  watchOthers,
} from './walk-moves.ts'
import { makeWalker } from './walker.ts'
import { scheme } from './harness.ts'

const movesOfBothFamilies: Move[] = [
  ...moves,
  {
    weight: 4,
    move: (walk) => create(walk, one(walk, walk.actors), makeService({ name: one(walk, names), ipFamilies: ['IPv6'] })),
  },
]

/** What must hold at every moment. */
function watch(walk: Walk): void {
  const { harness } = walk
  watchOthers(walk)
  for (const key of keys) {
    const { service } = serviceMarks(scheme, key)
    const paid = harness.cloud.bought.filter(
      ({ id, marks }) => marks['service'] === service && isPaid(harness.cloud, id),
    )
    // What a Service of another family had ordered before is an orphan for some time.
    for (const family of ['ipv4', 'ipv6']) {
      const some = paid.filter(({ address = '' }) => parseIpAddress(address)?.family === family)
      assert.ok(some.length <= 1, `${key} has ${some.map(({ id }) => id).join(' and ')}`)
    }
  }
  for (const service of harness.api.stored(services)) {
    const record = harness.record(keyOf(service))
    if (record?.status?.phase !== 'Bound' || record.spec.claimRef?.uid !== service.metadata.uid) continue
    const { reservationID = '' } = record.status
    assert.ok(
      isPaid(harness.cloud, reservationID),
      `${keyOf(service)} is bound to ${reservationID}, which was given back`,
    )
  }
}

function isPaid(cloud: Walk['harness']['cloud'], id: string): boolean {
  return cloud.reserved().some((one) => one.id === id && one.state !== 'denied')
}

/** What must hold when everything has come to rest. */
function judge({ harness, surprises, log }: Walk): void {
  assert.equal(surprises, [])
  const wanting = harness.api.stored(services).filter(({ spec }) => spec.loadBalancerClass === undefined)
  for (const service of wanting) {
    const record = harness.record(keyOf(service))
    assert.is(record?.status?.phase, 'Bound', keyOf(service))
    assert.is(service.metadata.annotations?.[addressAnnotation], record?.status?.address)
    const reserved = harness.cloud.reserved().find(({ id }) => id === record?.status?.reservationID)
    assert.is(reserved?.address, record?.status?.address, `${keyOf(service)} shows what is not reserved`)
    const family = service.spec.ipFamilies?.includes('IPv6') ? 'ipv6' : 'ipv4'
    assert.is(parseIpAddress(reserved?.address ?? '')?.family, family, `${keyOf(service)} shows the other family`)
  }
  const held = new Set(harness.api.stored(elasticIPs).map(({ status }) => status?.reservationID))
  // What a predecessor reserved in addition for a Service that exists is reported and kept.
  const ours = ownReservations({ harness }).filter(({ id }) => held.has(id) || !id.startsWith('old-'))
  const left = leftByUsers({ harness, log }, wanting)
  assert.equal(ours.length, wanting.length + left.length, 'reservations and Services that want one')
  assert.equal(harness.api.stored(elasticIPs).length, wanting.length, 'records and Services that want one')
}

async function walkFrom(seed: number, steps: number): Promise<void> {
  const walker = makeWalker(seed)
  const walk = beginWalk(walker)
  seedOf(walk)
  try {
    await walkOn(walk, { steps, moves: movesOfBothFamilies, watch })
    await comeToRest(walk, keys)
    watch(walk)
    judge(walk)
  } catch (error) {
    console.log(`seed ${seed}\n  ${walk.log.join('\n  ')}`)
    throw error
  }
}

/** What a predecessor left. */
function seedOf({ harness, random }: Walk): void {
  if (random(2) === 0) return harness.setAdoptionMark()
  for (let n = 0; n < random(4); n += 1) {
    const marks = serviceMarks(scheme, keys[n % 2] ?? '')
    harness.cloud.put(makeReservation({ id: `old-${n}`, address: `198.51.100.${n}`, marks }))
  }
  return undefined
}

/** More of them, or another part of them: WALKS=3000 FROM=1000 node test/run.ts ledger/walk */
const walks = Number(process.env['WALKS'] ?? 40)
const from = Number(process.env['FROM'] ?? 1)

test(`${walks} random walks end with one address for each Service that wants one, and no other`, async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    for (let seed = from; seed < from + walks; seed += 1) await walkFrom(seed, 400)
  } finally {
    mock.timers.reset()
  }
})

test.run()
