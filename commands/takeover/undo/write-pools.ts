import { type IPAddressPool, bgpAdvertisements, ipAddressPools } from '../../../announcers/metallb/resources.ts'
import { listAllKnown } from '../../../controllers/announcing/list-known.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { Clock } from '../../../kube/clock.ts'
import { KubeError, isAlreadyExists } from '../../../kube/errors.ts'
import { isAdvertisement } from '../../../announcers/metallb/resources.ts'
import { isOurs } from '../../../announcers/metallb/ownership.ts'
import { marksOf, metallbKinds, predecessorNamed } from '../found.ts'
import { type UndoFacts, advertisementWith, poolsToWrite } from './predecessor-objects.ts'
import { type WantedPool, advertisedNames } from './predecessor-pools.ts'

const fieldManager = 'eip-admission-takeover'

/** How often, and how soon again, a pool is tried that MetalLB's webhook refuses: it learns of a removal a moment later. */
const tries = { count: 200, pauseMs: 50 }

/**
 * Gives the pools of Services that came since the names of the predecessor. MetalLB's webhook refuses two pools with one
 * address: there the old one goes and the new one comes in the same moment. Where it refuses nothing the new one is first.
 * The advertisement names both meanwhile.
 */
export async function writePools(client: KubeClient, facts: UndoFacts, clock: Clock): Promise<number> {
  const { namespace } = facts
  const existing = (await Promise.all(metallbKinds.map((kind) => listAllKnown(client, kind, { namespace })))).flat()
  const pools = poolsToWrite(existing, facts).filter(({ isThere }) => !isThere)
  if (pools.length === 0) return 0
  const marks = marksOf(predecessorNamed(facts.found.predecessor), namespace)
  const stored = existing.filter(isAdvertisement).find((one) => isOurs(marks, one))
  const before = stored?.spec?.ipAddressPools ?? []
  const both = stored ? [...new Set([...before, ...advertisedNames(stored, pools)])] : []
  const advertisement = advertisementWith(both, existing, facts)
  if (advertisement && both.length > before.length) {
    const { name } = advertisement.metadata
    await client.patch(bgpAdvertisements, { namespace, name, patch: { merge: { spec: advertisement.spec } } })
  }
  for (const wanted of pools) await writePool(client, wanted, clock)
  return pools.length
}

async function writePool(client: KubeClient, { pool, replaces }: WantedPool, clock: Clock): Promise<void> {
  const { namespace } = pool.metadata
  const old = replaces === undefined ? undefined : { namespace, name: replaces }
  const isFirst = await isCreated(client, pool)
  if (old) await client.remove(ipAddressPools, old)
  if (isFirst) return
  for (let n = 0; ; n += 1) {
    if (await isCreated(client, pool, n >= tries.count)) return
    await clock.sleep(tries.pauseMs)
  }
}

/** Creates a pool. False if MetalLB refuses it, as it does while another pool has its address. */
async function isCreated(client: KubeClient, pool: IPAddressPool, isLast = false): Promise<boolean> {
  try {
    await client.create(ipAddressPools, pool, { fieldManager })
    return true
  } catch (error) {
    if (isAlreadyExists(error)) return true
    const isRefused = error instanceof KubeError && [400, 403, 422].includes(error.status)
    if (!isRefused || isLast) throw error
    return false
  }
}
