// Random walks: two processes, crashes, frozen processes, lost calls, a cloud with moods. Whatever happens, in the end
// every Service that wants an address has one, or one of each family, and the project has no other. A setting that gives one
// address changes nothing then.
import { mock } from 'node:test'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KubeError } from '../../kube/errors.ts'
import { type Service, ingressOf, keyOf } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { parseIpAddress } from '../../lib/ip-address.ts'
import { want } from '../../ledger/want/want.ts'
import {
  type ElasticIP,
  elasticIPs,
  familyOf,
  heldAddress,
  recordName,
  reservationIdOf,
  secondKey,
  secondKeys,
} from '../../ledger/record/elastic-ip.ts'
import { serviceMarks } from '../../ledger/record/marks.ts'
import { addressAnnotation } from '../../ledger/record/names.ts'
import type { Policy } from '../../settings/service-policy.ts'
import { makeReservation, makeService } from '../builders.ts'
import { comeToRest, create, familiesOf } from './walk-life.ts'
import {
  type Move,
  type Walk,
  addressKeys,
  beginWalk,
  forcedDeletionOf,
  keys,
  leftByUsers,
  moves,
  names,
  one,
  ownReservations,
  reconcileSeconds,
  secondAddressKeys,
  seedsOf,
  twoFamilies,
  walkOn,
  watchOthers,
} from './walk-moves.ts'
import { announcesWhatIsPaid, sharedAddressKeys, sharingMoves } from './walk-sharing.ts'
import { makeWalker } from './walker.ts'
import { scheme, usualPolicy } from './harness.ts'

const movesOfBothFamilies: Move[] = [
  ...moves,
  ...sharingMoves,
  {
    weight: 4,
    move: (walk) => create(walk, one(walk, walk.actors), makeService({ name: one(walk, names), ipFamilies: ['IPv6'] })),
  },
  {
    weight: 16,
    move: (walk) => create(walk, one(walk, walk.actors), makeService({ name: one(walk, names), ...twoFamilies(walk) })),
  },
  reconcileSeconds,
  {
    weight: 2,
    move: (walk) => {
      const { harness, log } = walk
      const service = one(walk, harness.api.stored(services))
      if (!service || service.metadata.deletionTimestamp || service.spec.loadBalancerClass !== undefined) return
      const { ipFamilies: [first = 'IPv4'] = [] } = service.spec
      const isDual = (service.spec.ipFamilies?.length ?? 0) > 1
      const other = first === 'IPv4' ? ('IPv6' as const) : ('IPv4' as const)
      const families = isDual ? [first] : [first, other]
      log.push(`a user makes ${keyOf(service)} a Service of ${families.join(' and ')}`)
      const ipFamilyPolicy = isDual ? 'SingleStack' : 'RequireDualStack'
      harness.addService({ ...service, spec: { ...service.spec, ipFamilies: families, ipFamilyPolicy } })
    },
  },
  {
    weight: 1,
    move: async (walk) => {
      const name = recordName(one(walk, secondAddressKeys))
      walk.log.push(`a user deletes ElasticIP ${name}`)
      await walk.harness.api.client.remove(elasticIPs, { name })
    },
  },
  {
    weight: 1,
    move: async (walk) => {
      const name = recordName(one(walk, secondAddressKeys))
      if (!walk.harness.api.stored(elasticIPs).some(({ metadata }) => metadata.name === name)) return
      walk.log.push(`a person empties the status of ElasticIP ${name}`)
      const emptied = { name, patch: { merge: { status: null } } }
      await walk.harness.api.client.patch(elasticIPs, emptied, { subresource: 'status' })
    },
  },
  {
    weight: 1,
    move: async (walk) => {
      const { name } = one(walk, walk.harness.api.stored(elasticIPs))?.metadata ?? {}
      if (name === undefined) return
      walk.log.push(`a person removes the claimRef of ${name}`)
      const patch = { merge: { spec: { claimRef: null } } }
      await walk.harness.api.client.patch(elasticIPs, { name, patch }).catch((error: unknown) => {
        assert.ok(error instanceof KubeError && error.reason === 'Invalid', String(error))
      })
    },
  },
]

/** An operator chooses a setting by which a Service has one address, or takes that back. */
const changeSetting = (policy: Policy): Move => ({
  weight: 2,
  move: ({ log }) => {
    policy.isDualStack = !policy.isDualStack
    log.push(`the setting gives a Service ${policy.isDualStack ? 'two addresses' : 'one address'}`)
  },
})

/** The invariants of every moment. */
function watch(walk: Walk): void {
  const { harness } = walk
  watchOthers(walk)
  announcesWhatIsPaid(walk)
  for (const key of addressKeys) {
    const { service } = serviceMarks(scheme, key)
    const paid = harness.cloud.bought.filter(
      ({ id, marks }) => marks['service'] === service && isPaid(harness.cloud, id),
    )
    // An address that a Service of another family had ordered before is an orphan for some time.
    for (const family of ['ipv4', 'ipv6']) {
      const some = paid.filter(({ address = '' }) => parseIpAddress(address)?.family === family)
      const forgotten = walk.log.filter((line) => line === forcedDeletionOf(recordName(key))).length
      assert.ok(some.length <= 1 + forgotten, `${key} has ${some.map(({ id }) => id).join(' and ')}`)
    }
  }
  const holders = Map.groupBy(
    harness.api.stored(elasticIPs).filter((record) => heldAddress(record)),
    reservationIdOf,
  )
  for (const [id, [one, other]] of holders) {
    assert.is(other, undefined, `${id} is held by ${one?.metadata.name} and ${other?.metadata.name}`)
  }
  for (const service of harness.api.stored(services)) {
    const key = keyOf(service)
    for (const record of [key, ...secondKeys(key)].map((one) => harness.record(one)))
      isBoundToWhatIsPaid(walk, service, record)
  }
}

function isBoundToWhatIsPaid({ harness }: Walk, service: Service, record: ElasticIP | undefined): void {
  if (record?.status?.phase !== 'Bound' || record.spec.claimRef?.uid !== service.metadata.uid) return
  const { reservationID = '' } = record.status
  assert.ok(
    isPaid(harness.cloud, reservationID),
    `${keyOf(service)} is bound to ${reservationID}, which was given back`,
  )
}

function isPaid(cloud: Walk['harness']['cloud'], id: string): boolean {
  return cloud.reserved().some((one) => one.id === id && one.state !== 'denied')
}

/** The invariants once everything has come to rest. Returns how many reservations users left without a record. */
function judge({ harness, surprises, log }: Walk): number {
  assert.equal(surprises, [])
  // A Service that shares the address of another one has no record while that one lives.
  const wanting = harness.api
    .stored(services)
    .filter(({ spec }) => spec.loadBalancerClass === undefined)
    .filter((service) => want(service, usualPolicy, undefined).kind !== 'own')
  for (const service of wanting) {
    const record = harness.record(keyOf(service))
    assert.is(record?.status?.phase, 'Bound', keyOf(service))
    assert.is(service.metadata.annotations?.[addressAnnotation], record?.status?.address)
    const reserved = harness.cloud.reserved().find(({ id }) => id === record?.status?.reservationID)
    assert.is(reserved?.address, record?.status?.address, `${keyOf(service)} shows what is not reserved`)
    // Under a setting that gives one, the first address may be of the second family.
    const families = familiesOf(service)
    const isOther = record !== undefined && families.length > 1 && familyOf(record) !== families[0]
    const [family = 'ipv4', second] = isOther ? families.toReversed() : families
    assert.is(parseIpAddress(reserved?.address ?? '')?.family, family, `${keyOf(service)} shows the other family`)
    const other = second && harness.record(secondKey(keyOf(service), second))
    if (second)
      assert.is(parseIpAddress(other?.status?.address ?? '')?.family, second, `the second of ${keyOf(service)}`)
    const shown = [record, other].flatMap((one) => one?.status?.address ?? [])
    assert.equal(
      ingressOf(service).map(({ ip }) => ip),
      shown,
      `the status of ${keyOf(service)}`,
    )
  }
  const held = new Set(harness.api.stored(elasticIPs).map(({ status }) => status?.reservationID))
  // An address that a predecessor reserved in addition for a Service that exists is reported and kept.
  const ours = ownReservations({ harness }).filter(({ id }) => held.has(id) || !id.startsWith('old-'))
  const left = leftByUsers({ harness, log })
  const wanted = wanting.reduce((sum, service) => sum + familiesOf(service).length, 0)
  assert.equal(ours.length, wanted + left.length, 'reservations and addresses that Services want')
  assert.equal(harness.api.stored(elasticIPs).length, wanted, 'records and addresses that Services want')
  return left.length
}

async function walkFrom(seed: number, steps: number): Promise<number> {
  const policy = { ...usualPolicy, isDualStack: true, matchesFamilies: false }
  const walker = makeWalker(seed, { policy })
  const walk = beginWalk(walker, seed)
  seedOf(walk)
  try {
    await walkOn(walk, { steps, moves: [...movesOfBothFamilies, changeSetting(policy)], watch })
    policy.isDualStack = true
    await comeToRest(walk, [...addressKeys, ...sharedAddressKeys])
    watch(walk)
    const left = judge(walk)
    const before = holdersOf(walk)
    policy.isDualStack = false
    await comeToRest(walk, [...addressKeys, ...sharedAddressKeys])
    assert.equal(holdersOf(walk), before, 'what Services hold under a setting that gives one address')
    return left
  } catch (error) {
    console.log(`seed ${seed}\n  ${walk.log.join('\n  ')}`)
    throw error
  }
}

/** Which record holds what, and what Services show. */
function holdersOf({ harness }: Walk): unknown {
  const held = harness.api.stored(elasticIPs).map((record) => `${record.metadata.name} ${reservationIdOf(record)}`)
  const shown = harness.api.stored(services).map((service) => `${keyOf(service)} ${JSON.stringify(ingressOf(service))}`)
  return [held.toSorted(), shown.toSorted()]
}

/** The remains of a predecessor. */
function seedOf({ harness, random }: Walk): void {
  if (random(2) === 0) return harness.setAdoptionMark()
  for (let n = 0; n < random(4); n += 1) {
    const marks = serviceMarks(scheme, keys[n % 2] ?? '')
    harness.cloud.put(makeReservation({ id: `old-${n}`, address: `198.51.100.${n}`, marks }))
  }
  return undefined
}

const seeds = seedsOf({ first: 90, fell: [3190, 5012] })

test(`${seeds.length} random walks end with one address for each Service that wants one, and no other`, async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    let left = 0
    for (const seed of seeds) left += await walkFrom(seed, 400)
    if (seeds.length >= 40) assert.ok(left > 0, 'no walk reaches a reservation that a user left without a record')
  } finally {
    mock.timers.reset()
  }
})

test.run()
