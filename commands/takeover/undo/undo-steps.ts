import { recordFinalizer } from '../../../ledger/record/names.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { isConflict, isNotFound } from '../../../kube/errors.ts'
import { listAll, listAllKnown } from '../../../kube/list-all.ts'
import { keyOf } from '../../../kube/objects.ts'
import { isHeld } from '../../../kube/lease.ts'
import { configMaps, leases, services } from '../../../kube/resource.ts'
import { claimKey, elasticIPs, reservationIdOf } from '../../../ledger/record/elastic-ip.ts'
import { listedOrphans } from '../../../ledger/identity/ledger-map.ts'
import { mapAll } from '../../../lib/map-all.ts'
import { names } from '../../../settings/installed-names.ts'
import { resourceOf } from '../../../manifests/resources.ts'
import { readConfigurations } from '../../../webhooks/webhook-probe.ts'
import { type FoundBefore, type LeftReservation, finalizersFor, newFinalizers } from '../found.ts'
import { isForeign, placeOf } from '../lead-lease.ts'
import type { RunDeps, TakeoverStep } from '../steps.ts'
import { readWorkloads, readyPods, refersTo, startStep, workloadText } from '../workloads.ts'
import { removeCondition } from '../../../controllers/services/service-condition.ts'
import { addressConditionOf } from '../../../ledger/record/address-use.ts'
import { isMarked, leavingReason, otherUsers, undoPatch } from './undo-service.ts'
import { counted } from '../../../lib/text.ts'

/** The dependencies of the steps of `undo`. */
export type UndoWork = Pick<RunDeps, 'client' | 'signal' | 'clock'> & { found: FoundBefore; check: () => Promise<void> }

const writesAtOnce = 8

type Clearing<T> = Pick<TakeoverStep, 'title'> & {
  things: string
  left: () => Promise<T[]>
  clear: (one: T) => Promise<unknown>
}

/** Makes a step that clears things until none is left. The next look handles what others wrote or removed meanwhile. */
function clearingStep<T>(
  { check }: Pick<UndoWork, 'check'>,
  { title, things, left, clear }: Clearing<T>,
): TakeoverStep {
  return {
    title,
    async missing() {
      const { length } = await left()
      return length === 0 ? undefined : { text: `left: ${counted(length, things)}` }
    },
    async act() {
      const clearOne = async (one: T) => {
        await check()
        await clear(one).catch(unlessRace)
      }
      await mapAll(await left(), clearOne, writesAtOnce)
    },
  }
}

/** Ignores a concurrent write or removal of the object, because the next look handles it. */
export function unlessRace(error: unknown): void {
  if (!isConflict(error) && !isNotFound(error)) throw error
}

/** Removes our webhook configurations, which without our process would only delay every request. */
export function webhooksStep(work: UndoWork): TakeoverStep {
  const { client } = work
  return clearingStep(work, {
    title: 'Remove the webhook configurations',
    things: 'webhook configurations',
    left: async () => Object.values(await readConfigurations(client)).filter((one) => one !== undefined),
    clear: (one) => client.remove(resourceOf(one), { name: one.metadata.name }),
  })
}

/** Gives every Service the predecessor's finalizer, and removes what we wrote, our condition last. */
export function servicesStep(work: UndoWork): TakeoverStep {
  const { client, found } = work
  return clearingStep(work, {
    title: 'Restore the Services',
    things: 'Services',
    async left() {
      const [all, records] = await Promise.all([listAll(client, services), listAllKnown(client, elasticIPs)])
      const byKey = new Map(records.map((record) => [claimKey(record), record]))
      return all.flatMap((service) => {
        const record = byKey.get(keyOf(service))
        const isEnding = service.metadata.deletionTimestamp !== undefined
        const isShared = isEnding && record !== undefined && otherUsers(record, all).length > 0
        const isOurs = record !== undefined || isMarked(service)
        const merge = isOurs ? undoPatch(service, finalizersFor(found, keyOf(service)), isShared) : undefined
        return merge || addressConditionOf(service) ? [{ service, merge }] : []
      })
    },
    async clear({ service, merge }) {
      const { namespace, name } = service.metadata
      if (merge) await client.patch(services, { namespace, name, patch: { merge } })
      if (addressConditionOf(service)) await removeCondition(client, service)
    },
  })
}

/** Removes our records but not their reservations, because none of our processes runs to release them. */
export function recordsStep(work: UndoWork): TakeoverStep {
  const { client } = work
  return clearingStep(work, {
    title: 'Remove the ElasticIPs, and keep their reservations',
    things: 'ElasticIPs',
    left: () => listAllKnown(client, elasticIPs),
    async clear({ metadata }) {
      const { name, uid, resourceVersion, finalizers = [] } = metadata
      const merge = { metadata: { resourceVersion, finalizers: finalizers.filter((one) => one !== recordFinalizer) } }
      await client.patch(elasticIPs, { name, patch: { merge } })
      await client.remove(elasticIPs, { name, uid })
    },
  })
}

/**
 * Notes the reservations that no program will look after, while their records name them. The next step stores them with
 * what was found.
 */
export function noteStep(work: UndoWork, namespace: string, left: LeftReservation[]): TakeoverStep {
  return clearingStep(work, {
    title: 'List the reservations that remain',
    things: 'reservations',
    async left() {
      const all = await leftReservations(work, namespace)
      return all.filter(({ id }) => !left.some((one) => one.id === id))
    },
    clear: async (one) => void left.push(one),
  })
}

/** The reservations that no live Service holds: those of records, and those without a record from the last sweep. */
async function leftReservations({ client, found }: UndoWork, namespace: string): Promise<LeftReservation[]> {
  const [all, records, map] = await Promise.all([
    listAll(client, services),
    listAllKnown(client, elasticIPs),
    client.get(configMaps, { namespace, name: names.ledgerConfigMap }),
  ])
  const finalizers = newFinalizers(found)
  const held = records.flatMap((record) => {
    const id = reservationIdOf(record)
    const reason = leavingReason(record, all, finalizers)
    return id === undefined || reason === undefined ? [] : [{ id, address: record.status?.address, reason }]
  })
  const ids = new Set(records.map(reservationIdOf))
  const reason = 'the last sweep found no Service for it, and may have deleted it since'
  const orphans = listedOrphans(map).filter(({ id }) => !ids.has(id))
  return [...held, ...orphans.map((one) => ({ ...one, reason }))]
}

/** Starts the predecessor as it was found, and waits until it runs and, if it elects a leader, leads. */
export function returnStep(
  client: KubeClient,
  { workloads: found, lease }: FoundBefore,
  release: () => Promise<void>,
): TakeoverStep {
  const ran = found.filter(({ isRunning }) => isRunning)
  // Two versions of it side by side would both buy addresses. If none ran, a person had stopped it.
  const workloads = ran.length > 0 ? ran : found
  const read = () => readWorkloads(client, workloads)
  return startStep(client, {
    title: 'Start the predecessor',
    workloads: read,
    // A person may have stopped it before the takeover. Its manifests have one replica.
    replicas: (one) => workloads.find((ref) => refersTo(ref, one))?.replicas || 1,
    async missing(started) {
      const absent = workloads.find((ref) => !started.some((one) => refersTo(ref, one)))
      if (absent)
        return {
          text: `${absent.kind} ${absent.namespace}/${absent.name} does not exist`,
          hint: 'install the predecessor again as it was installed',
        }
      const unready = started.find((one) => readyPods(one) === 0)
      if (unready)
        return {
          text: `${workloadText(unready)} has no ready pod yet`,
          hint: `\`kubectl get pods -n ${unready.metadata.namespace}\``,
        }
      // A predecessor that ran without holding the lease elects by another lock.
      if (!lease.isUsed || (ran.length > 0 && lease.holder === undefined)) return undefined
      const { namespace, name } = lease
      const stored = await client.get(leases, { namespace, name })
      if (stored && isHeld(stored, new Date()) && isForeign(stored.spec?.holderIdentity ?? '')) return undefined
      return { text: `its pod runs; waiting until it holds the ${placeOf(lease)}` }
    },
    async act() {
      // Until its pod can take the lease, no other program should.
      const all = await read()
      if (all.length === workloads.length && all.every((one) => readyPods(one) > 0)) await release()
    },
  })
}
