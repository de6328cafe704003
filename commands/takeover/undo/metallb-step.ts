import { isOurs } from '../../../announcers/metallb/ownership.ts'
import { isWritten } from '../../../announcers/shared/own-objects.ts'
import {
  type PredecessorFacts,
  advertisementOfBoth,
  placeOf,
  poolsToWrite,
  predecessorConfiguration,
  wantedObjects,
} from '../../../announcers/metallb/predecessor/objects.ts'
import { type IPAddressPool, bgpAdvertisements, ipAddressPools, isPool } from '../../../announcers/metallb/resources.ts'
import { nothingToAnnounce } from '../../../controllers/announcing/configurator.ts'
import { configureObjects } from '../../../controllers/announcing/configure-objects.ts'
import { type ObjectChange, planChanges } from '../../../controllers/announcing/plan-changes.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { KubeError, isAlreadyExists, isUnanswered, resultUnless } from '../../../kube/errors.ts'
import { listAll } from '../../../kube/list-all.ts'
import { type KubeObject, type Service, keyOf } from '../../../kube/objects.ts'
import { nodes, secrets, services } from '../../../kube/resource.ts'
import { names } from '../../../settings/installed-names.ts'
import { backoffMs } from '../../../lib/repeat.ts'
import { type FoundBefore, marksOf, metallbObjects, newFinalizers, predecessorNamed } from '../found.ts'
import { describeChange } from '../plan/plan-objects.ts'
import type { TakeoverStep } from '../steps.ts'
import { isMarked } from './undo-service.ts'
import type { UndoWork } from './undo-steps.ts'
import { counted } from '../../../lib/text.ts'

/** Gives the MetalLB objects the names and fields that the predecessor expects, while every address keeps a route. */
export function metallbStep(work: UndoWork): TakeoverStep {
  const { client, signal, check, clock } = work
  return {
    title: 'Restore the objects of MetalLB',
    async missing() {
      const seen = await look(work)
      if (!seen) return undefined
      const { facts, existing } = seen
      const plan = planChanges(predecessorConfiguration(facts), existing, wantedObjects(existing, facts))
      const changes = [...plan.first.flat(), ...plan.waves.flat(2), ...plan.last]
      const waves = plan.waves.length
      if (changes.length === 0) return undefined
      const inWaves = waves > 0 ? `, in ${counted(waves, 'waves')} of sessions` : ''
      return { text: `left: ${counted(changes.length, 'objects')}${inWaves}: ${changesText(changes)}` }
    },
    async act() {
      const seen = await look(work)
      if (!seen) return
      await renamePools(work, seen)
      const configuration = predecessorConfiguration(seen.facts)
      // All waves use one configurator, which leaves sessions time to come up between them.
      const configurator = configureObjects({ client, configuration, now: () => clock.now() })
      for (let isUnfinished = true; isUnfinished && !signal.aborted;) {
        await check()
        const result = await configurator.carryOut(nothingToAnnounce, signal)
        const [refused] = result.problems
        if (refused) throw new Error(`MetalLB refuses an object of the predecessor: ${refused.message}`)
        if (result.failure) throw result.failure
        isUnfinished = result.isUnfinished ?? false
        if (isUnfinished) await clock.sleep(250, signal)
      }
    },
  }
}

/** The maximum number of changes that a text names. */
const maxNamed = 3

function changesText(changes: readonly ObjectChange[]): string {
  const texts = changes.slice(0, maxNamed).map((one) => {
    const { kind, name, change, fields } = describeChange(one)
    return `${kind} ${name} is ${change}${fields.length > 0 ? ` (${fields.join(', ')})` : ''}`
  })
  const more = changes.length - texts.length
  return `${texts.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

type Seen = { facts: PredecessorFacts; existing: KubeObject[] }

/** The MetalLB objects, and everything that determines them; undefined if neither we nor the predecessor wrote any. */
async function look({ client, found }: UndoWork): Promise<Seen | undefined> {
  const predecessor = predecessorNamed(found.predecessor)
  const all = await metallbObjects(client)
  const namespaceOf = ({ metadata }: KubeObject) => metadata.namespace ?? ''
  // The predecessor may have had none when we took over.
  const ours = all.find((one) => isWritten(one) && isOurs(marksOf(predecessor, namespaceOf(one)), one))
  const namespace = found.metallb?.namespace ?? ours?.metadata.namespace
  if (namespace === undefined) return undefined
  const [stored, allNodes, secret] = await Promise.all([
    listAll(client, services),
    listAll(client, nodes),
    client.get(secrets, { namespace, name: names.bgpSecret }),
  ])
  const password = secret?.data?.['password']
  return {
    facts: {
      marks: marksOf(predecessor, namespace),
      found: found.metallb?.objects ?? [],
      services: stored.filter((service) => isServed(service, found)),
      nodes: allNodes,
      password: password === undefined ? undefined : Buffer.from(password, 'base64').toString(),
    },
    existing: [
      ...all.filter((one) => namespaceOf(one) === namespace),
      ...(secret ? [{ ...secret, apiVersion: 'v1', kind: 'Secret' }] : []),
    ],
  }
}

/**
 * Whether the predecessor will announce a Service: it has an address, and we or the predecessor hold it. The
 * predecessor's mirror of the control plane does not count.
 */
export function isServed(service: Service, found: FoundBefore): boolean {
  const { metadata, spec } = service
  const { mirrorService } = predecessorNamed(found.predecessor)
  if (spec.type !== 'LoadBalancer' || !spec.loadBalancerIP || metadata.deletionTimestamp) return false
  if (metadata.namespace === mirrorService.namespace && metadata.name === mirrorService.name) return false
  const isHeld = isMarked(service) || newFinalizers(found).some((one) => metadata.finalizers?.includes(one))
  return isHeld || found.services[keyOf(service)] !== undefined
}

/**
 * Gives our pools of other names the names of the predecessor. The advertisement names both, and the configurator
 * removes the old ones. MetalLB's webhook refuses two pools with one address: there the old pool is removed first.
 */
async function renamePools(work: UndoWork, { facts, existing }: Seen): Promise<void> {
  const { client, check } = work
  const renames = poolsToWrite(existing, facts).filter(({ replaces }) => replaces !== undefined)
  const advertisement = advertisementOfBoth(existing, renames, facts)
  if (advertisement) {
    await check()
    const merge = { spec: advertisement.spec }
    await client.patch(bgpAdvertisements, { ...placeOf(advertisement), patch: { merge } })
  }
  for (const { pool, replaces } of renames) {
    await check()
    const old = existing.filter(isPool).find(({ metadata }) => metadata.name === replaces)
    await createPool(client, pool).catch((error: unknown) => {
      if (!old || !isOverlap(error)) throw error
      return replacePool(work, old, pool)
    })
  }
}

/** Removes a pool and creates another one, or the same again: without either, the address has no route. */
async function replacePool(work: UndoWork, old: IPAddressPool, pool: IPAddressPool): Promise<void> {
  try {
    await work.client.remove(ipAddressPools, { ...placeOf(old), uid: old.metadata.uid })
    await createSoon(work, pool)
  } catch (error) {
    const { uid: _uid, resourceVersion: _version, managedFields: _fields, ...metadata } = old.metadata
    await createSoon(work, { ...old, metadata }).catch(() => undefined)
    throw error
  }
}

/**
 * About sixteen seconds: MetalLB's webhook learns of a removal at once, and a restarting API server is back within this
 * time.
 */
const tries = { count: 20, firstMs: 50, maxMs: 1_000 }

async function createSoon({ client, clock }: UndoWork, pool: IPAddressPool): Promise<void> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await createPool(client, pool)
    } catch (error) {
      if (failures === tries.count || !(isOverlap(error) || isUnanswered(error))) throw error
    }
    await clock.sleep(backoffMs(failures, tries))
  }
}

async function createPool(client: KubeClient, pool: IPAddressPool): Promise<void> {
  await resultUnless(isAlreadyExists, client.create(ipAddressPools, pool, { fieldManager: 'eip-admission-takeover' }))
}

/** Whether another pool has the address. MetalLB uses these words in all versions that have a webhook. */
function isOverlap(error: unknown): boolean {
  return error instanceof KubeError && error.message.includes('overlaps with')
}
