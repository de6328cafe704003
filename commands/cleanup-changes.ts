import { removeCondition } from '../controllers/services/service-condition.ts'
import { isMirror } from '../controllers/control-plane/mirror-objects.ts'
import type { KubeClient } from '../kube/client.ts'
import { isConflict, isForbidden, isNotFound, resultUnless } from '../kube/errors.ts'
import { listAll } from '../kube/list-all.ts'
import { type KubeObject, type Service, keyOf, splitKey } from '../kube/objects.ts'
import {
  type Resource,
  mutatingWebhookConfigurations,
  services,
  validatingWebhookConfigurations,
} from '../kube/resource.ts'
import { type ElasticIP, elasticIPs } from '../ledger/record/elastic-ip.ts'
import { addressConditionOf } from '../ledger/record/address-use.ts'
import { balancerFinalizer, serviceFinalizer, recordFinalizer } from '../ledger/record/names.ts'
import { names } from '../settings/installed-names.ts'

/** Our finalizers of Services. */
export const ours = [serviceFinalizer, balancerFinalizer]

/**
 * A change that cleanup makes: the line that it prints without `--yes`, and a function that returns the line after it.
 */
export type Change = { planned: string; make: () => Promise<string> }

/** Whether an object has a finalizer. */
export function hasFinalizer({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false
}

/** The Services and the ElasticIPs among these that our finalizer holds. */
export function heldOf<S extends Service>(all: readonly S[], records: readonly ElasticIP[]) {
  return {
    services: all.filter((service) => ours.some((finalizer) => hasFinalizer(service, finalizer))),
    records: records.filter((record) => hasFinalizer(record, recordFinalizer)),
  }
}

/** The deletions of both webhook configurations. */
export function webhookDeletions(client: KubeClient): Change[] {
  const deletion = (resource: Resource<KubeObject>, name: string): Change => ({
    planned: `would delete ${resource.kind} ${name}`,
    async make() {
      await client.remove(resource, { name })
      return `deleted ${resource.kind} ${name}`
    },
  })
  return [
    deletion(mutatingWebhookConfigurations, names.mutatingConfiguration),
    deletion(validatingWebhookConfigurations, names.validatingConfiguration),
  ]
}

/**
 * The deletions of the Services that mirror the API servers. Nothing updates them now, so nodes would send the
 * traffic of the control-plane address to former API servers. Their slices are deleted with them.
 */
export function mirrorDeletions(client: KubeClient, all: readonly Service[]): Change[] {
  return all.filter(isMirror).map(({ metadata }) => {
    const what = `Service ${keyOf({ metadata })}, which mirrors the API servers`
    return {
      planned: `would delete ${what}`,
      async make() {
        await client.remove(services, splitKey(keyOf({ metadata })))
        return `deleted ${what}`
      },
    }
  })
}

/** The removal of finalizers from a Service, and of our condition, which would become stale. */
export function serviceChange(client: KubeClient, object: Service, finalizers: readonly string[]): Change {
  const { planned, make } = removal(client, services, { object, finalizers })
  return {
    planned,
    async make() {
      const done = await make()
      // A role from an older installation lacks this right. The condition blocks nothing, so it may stay.
      if (addressConditionOf(object)) await resultUnless(isForbidden, removeCondition(client, object))
      return done
    },
  }
}

/** The removal of our finalizer from an ElasticIP. */
export function recordChange(client: KubeClient, object: ElasticIP): Change {
  return removal(client, elasticIPs, { object, finalizers: [recordFinalizer] })
}

type Held<T> = { object: T; finalizers: readonly string[] }

function removal<T extends Service | ElasticIP>(client: KubeClient, resource: Resource<T>, held: Held<T>): Change {
  const { object, finalizers } = held
  const names = finalizers.filter((finalizer) => hasFinalizer(object, finalizer)).join(' and ')
  const what = `the finalizer ${names} from ${resource.kind} ${keyOf(object)}`
  return {
    planned: `would remove ${what}`,
    async make() {
      const isDone = await removeFinalizers(client, resource, held)
      return isDone ? `removed ${what}` : `did not remove ${what}: others change it all the time`
    },
  }
}

/** Removes finalizers from the current object. Returns false if it keeps changing. */
async function removeFinalizers<T extends Service | ElasticIP>(
  client: KubeClient,
  resource: Resource<T>,
  { object, finalizers }: Held<T>,
): Promise<boolean> {
  const at = resource.namespaced ? splitKey(keyOf(object)) : { name: object.metadata.name }
  let stored: T | undefined = object
  for (let tries = 0; tries < 5; tries += 1) {
    if (!stored) return true
    const { resourceVersion, finalizers: now = [] } = stored.metadata
    if (!now.some((name) => finalizers.includes(name))) return true
    const merge = { metadata: { resourceVersion, finalizers: now.filter((name) => !finalizers.includes(name)) } }
    try {
      await client.patch(resource, { ...at, patch: { merge } })
      return true
    } catch (error) {
      if (isNotFound(error)) return true
      if (!isConflict(error)) throw error
    }
    stored = await readAgain(client, resource, object)
  }
  return false
}

/** The current object. The chart's Job may list, but not get. */
async function readAgain<T extends KubeObject>(client: KubeClient, resource: Resource<T>, { metadata }: T) {
  const { namespace, name } = metadata
  const found = await listAll(client, resource, {
    fieldSelector: `metadata.name=${name}`,
    ...(namespace && { namespace }),
  })
  return found.find((one) => one.metadata.name === name && one.metadata.namespace === namespace)
}
