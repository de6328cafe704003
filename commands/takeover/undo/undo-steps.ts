import { listAllKnown } from '../../../controllers/announcing/list-known.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { Clock } from '../../../kube/clock.ts'
import { isConflict, isNotFound } from '../../../kube/errors.ts'
import { listAll } from '../../../kube/list-all.ts'
import { type Key, type Service, keyOf } from '../../../kube/objects.ts'
import { mutatingWebhookConfigurations, services, validatingWebhookConfigurations } from '../../../kube/resource.ts'
import { type ElasticIP, claimKey, elasticIPs, recordFinalizer } from '../../../ledger/record/elastic-ip.ts'
import { mapAll } from '../../../lib/map-all.ts'
import { names } from '../../../settings/installed-names.ts'
import { type Found, predecessorNamed } from '../found.ts'
import type { Step } from '../steps.ts'
import { isMarked, sharersOf, undoPatch } from './undo-service.ts'

/** What steps of `undo` work with. */
export type UndoWork = {
  client: KubeClient
  found: Found
  check: () => Promise<void>
  signal: AbortSignal
  clock: Clock
}

const writesAtOnce = 8

/** Removes our webhook configurations: without our process they would only delay every request. */
export function webhooksStep(client: KubeClient): Step {
  const all = [
    { resource: mutatingWebhookConfigurations, name: names.mutatingConfiguration },
    { resource: validatingWebhookConfigurations, name: names.validatingConfiguration },
  ]
  return {
    name: 'webhooks',
    title: 'Remove the webhook configurations',
    async missing() {
      const there = await Promise.all(all.map(({ resource, name }) => client.get(resource, { name })))
      const count = there.filter((one) => one !== undefined).length
      return count === 0 ? undefined : { text: `${count} webhook configurations are left` }
    },
    async act() {
      for (const { resource, name } of all) await client.remove(resource, { name })
    },
  }
}

/** Gives every Service the predecessor's finalizer, and takes away what we wrote. */
export function servicesStep({ client, found, check }: UndoWork): Step {
  const { finalizers } = predecessorNamed(found.predecessor)
  const marked = async () => ours(await listServices(client), finalizers)
  return {
    name: 'services',
    title: 'Give the Services back',
    async missing() {
      const { length } = await marked()
      return length === 0 ? undefined : { text: `${length} Services are left` }
    },
    async act() {
      const all = await marked()
      await mapAll(all, (one) => giveBack(client, { ...one, finalizers, check }), writesAtOnce)
    },
  }
}

/** A Service, and the other Services that show the address with which it is being deleted. */
export type SharedService = { service: Service; record: ElasticIP | undefined; sharers: Key[] }

/** Every Service, with its record and those who share its address while it is being deleted. */
export async function listServices(client: KubeClient): Promise<SharedService[]> {
  const [all, records] = await Promise.all([listAll(client, services), knownRecords(client)])
  const byKey = new Map(records.map((record) => [claimKey(record), record]))
  return all.map((service) => ({
    service,
    record: byKey.get(keyOf(service)),
    sharers: sharersOf(service, { services: all, records }),
  }))
}

/** The Services with something of ours, or with a record and a predecessor's finalizer that would end a shared address. */
function ours(all: readonly SharedService[], finalizers: readonly string[]): SharedService[] {
  return all.filter(
    ({ service, record, sharers }) =>
      isMarked(service) ||
      (record !== undefined &&
        sharers.length > 0 &&
        finalizers.some((one) => service.metadata.finalizers?.includes(one))),
  )
}

type GivingBack = SharedService & { finalizers: readonly string[]; check: () => Promise<void> }

async function giveBack(client: KubeClient, { service, sharers, finalizers, check }: GivingBack): Promise<void> {
  await check()
  const merge = undoPatch(service, finalizers, sharers.length > 0)
  const { namespace, name } = service.metadata
  // Somebody else wrote it meanwhile, or it is gone: the next look decides anew.
  if (merge) await client.patch(services, { namespace, name, patch: { merge } }).catch(unlessRace)
}

/** Removes our records and leaves their reservations alone: no process of ours runs that would release them. */
export function recordsStep({ client, check }: UndoWork): Step {
  return {
    name: 'records',
    title: 'Remove the ElasticIPs, and leave their reservations',
    async missing() {
      const { length } = await knownRecords(client)
      return length === 0 ? undefined : { text: `${length} ElasticIPs are left` }
    },
    async act() {
      await mapAll(
        await knownRecords(client),
        async (record) => {
          await check()
          await forget(client, record)
        },
        writesAtOnce,
      )
    },
  }
}

async function forget(client: KubeClient, { metadata }: ElasticIP): Promise<void> {
  const { name, uid, resourceVersion, finalizers = [] } = metadata
  const merge = { metadata: { resourceVersion, finalizers: finalizers.filter((one) => one !== recordFinalizer) } }
  try {
    await client.patch(elasticIPs, { name, patch: { merge } })
    await client.remove(elasticIPs, { name, uid })
  } catch (error) {
    unlessRace(error)
  }
}

/** The records; none if the cluster does not know them. */
export function knownRecords(client: KubeClient): Promise<ElasticIP[]> {
  return listAllKnown(client, elasticIPs, {}) as Promise<ElasticIP[]>
}

function unlessRace(error: unknown): void {
  if (!isConflict(error) && !isNotFound(error)) throw error
}
