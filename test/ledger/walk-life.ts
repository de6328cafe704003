// The deeds of users and of the cluster in a walk.
import { KubeError } from '../../kube/errors.ts'
import { keyOf, type Service } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import type { Claim } from '../../ledger/claim/claim-spec.ts'
import { elasticIPs, secondKey } from '../../ledger/record/elastic-ip.ts'
import type { IpFamily } from '../../lib/ip-address.ts'
import { addressAnnotation, elasticIPAnnotation, serviceFinalizer } from '../../ledger/record/names.ts'
import { makeService } from '../builders.ts'
import { type Actor, lost, type Walker } from './walker.ts'
import { neverAborted } from './harness.ts'

/** The longest time between our answer and the object that the API server stores. */
const storeMs = 34_000

/** Creates a Service as kubectl does: admission first, the object later, if at all. */
export function create({ harness, random, log, go, gate, note }: Walker, actor: Actor, service: Service): void {
  const key = keyOf(service)
  const { [elasticIPAnnotation]: elasticIP } = service.metadata.annotations ?? {}
  const spec = elasticIP === undefined ? { reclaim: 'Delete' as const } : { elasticIP }
  const [family = 'ipv4', second] = familiesOf(service)
  const claim = (facts: Pick<Claim, 'key' | 'family'>) =>
    actor.claim({ ...spec, ...facts }).catch((error: unknown) => {
      if (error instanceof KubeError) return undefined
      throw error
    })
  const claiming = claim({ key, family })
  const claimingSecond =
    second &&
    gate(actor, `the second claim for ${key}`, { moment: 'before', maxMs: 9_000, error: () => lost('kube', 'create') })
      .then(() => claim({ key: secondKey(key, second), family: second }))
      .catch(() => undefined)
  go(actor, `admission of ${key}`, async () => {
    const claimed = await claiming
    const isDenied = claimed?.kind === 'refused' || (await claimingSecond)?.kind === 'refused'
    if (isDenied || random(5) === 0) return note(`${key} is not stored`)
    await gate(undefined, `store ${key}`, { moment: 'before', maxMs: storeMs, error: () => lost('kube', 'create') })
    if (harness.api.stored(services).some((one) => keyOf(one) === key)) return undefined
    const address = claimed?.kind === 'held' ? claimed.address : undefined
    const { metadata } = makeService({ name: service.metadata.name, uid: `${key}-${log.length}` })
    const finalizers = claimed ? [serviceFinalizer] : []
    const annotations = {
      ...service.metadata.annotations,
      ...(address === undefined ? {} : { [addressAnnotation]: address }),
    }
    harness.addService({
      ...service,
      metadata: { ...metadata, finalizers, annotations },
      spec: { ...service.spec, ...(address === undefined ? {} : { loadBalancerIP: address }) },
    })
    return note(`${key} is stored with ${address ?? 'no address'}`)
  })
}

/** The families of the addresses of a Service, in the order in which they are claimed. */
export function familiesOf({ spec: { ipFamilies = ['IPv4'] } }: Service): IpFamily[] {
  return ipFamilies.map((family) => (family === 'IPv6' ? 'ipv6' : 'ipv4'))
}

/** Ends all faults, lets every process and controller work, and moves the clocks. */
export async function comeToRest({ harness, ...walker }: Walker, keys: string[]): Promise<void> {
  const { cloud } = harness
  Object.assign(cloud, { fates: [], otherwise: 'reserved', listsLate: false, deletesLate: false, unreadable: false })
  cloud.settle()
  cloud.correct()
  const openAll = async () => {
    await walker.settle()
    for (let gate = walker.gates[0]; gate; gate = walker.gates[0]) await walker.openOne(gate, false)
  }
  for (const actor of walker.actors) actor.isFrozen = false
  await openAll()
  const leader = walker.start('last')
  for (let round = 0; round < 8; round += 1) {
    for (const { id, state } of cloud.reserved()) if (state === 'requested') cloud.grant(id)
    walker.go(leader, 'a sweep', () => leader.sweep(neverAborted))
    await openAll()
    for (const key of keys) walker.go(leader, `reconciling ${key}`, () => leader.reconcile(key))
    await openAll()
    walker.go(leader, 'reconciling the warm pool', () => leader.fillPool())
    await openAll()
    const stored = harness.api.stored(elasticIPs).map(({ metadata }) => metadata.name)
    const sources = harness.api.stored(elasticIPs).flatMap(({ spec }) => spec.source?.name ?? [])
    for (const name of new Set([...stored, ...sources]))
      walker.go(leader, `reconciling ${name}`, () => leader.reconcileSource(name))
    await openAll()
    await walker.pass(round % 2 === 0 ? 60_000 : 16 * 60_000)
  }
}
