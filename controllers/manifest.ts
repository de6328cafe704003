import type { KubeClient } from '../kube/client.ts'
import type { Discovery } from '../kube/discovery.ts'
import { KubeError } from '../kube/errors.ts'
import type { Log } from '../kube/log.ts'
import { type KubeObject, keyOf } from '../kube/objects.ts'
import type { Reconciler } from './reconciler.ts'

export type ManifestDeps = {
  client: Pick<KubeClient, 'apply'> & Discovery
  objects: KubeObject[]
  /** Whom to grant what is missing: `namespace:name` of our service account. */
  account: string
  log: Log
}

/** The only key of a manifest: its objects belong together. */
export const manifestKey = 'manifest'

const fieldManager = 'eip-admission-manifest'

/**
 * Applies the objects of a person's manifest in their order, as far as they can be: what one object needs may be there
 * only after others, and an old manifest may hold what a new API server does not know. Throws with what is left.
 */
export function manifest({ client, objects, account, log }: ManifestDeps): Reconciler {
  return {
    name: 'manifest',
    async reconcile(_key, signal) {
      const left: Error[] = []
      for (const object of objects) {
        const error = await apply(client, object, signal).catch((reason: Error) => reason)
        signal.throwIfAborted()
        if (error) left.push(error)
      }
      if (left.length > 0) throw new Error(leftOut(left, { of: objects.length, account }))
      log.info({ objects: objects.length }, 'manifest applied')
      return {}
    },
  }
}

/** Answers why an object could not be sent. */
async function apply(
  client: ManifestDeps['client'],
  object: KubeObject,
  signal: AbortSignal,
): Promise<Error | undefined> {
  const resource = await client.resource(object, { signal })
  if (!resource) return new Error(`${object.kind} ${keyOf(object)}: the API server does not serve ${object.apiVersion}`)
  await client.apply(resource, object, { fieldManager, signal })
  return undefined
}

/** More would hide what they have in common. */
const maxShown = 3

/** A manifest is applied with the rights that we have, and those that most of its objects need are not among them. */
function leftOut(errors: Error[], { of, account }: { of: number; account: string }): string {
  const shown = errors.slice(0, maxShown).map(({ message }) => message)
  const more = errors.length > maxShown ? [`${errors.length - maxShown} more`] : []
  const told = `${errors.length} of ${of} objects are not applied: ${[...shown, ...more].join('; ')}`
  const isForbidden = errors.some((error) => error instanceof KubeError && error.status === 403)
  if (!isForbidden) return told
  const grant = `kubectl create clusterrolebinding eip-admission-manifest --clusterrole=cluster-admin --serviceaccount=${account}`
  return `${told}. Apply the file yourself, or give us the rights that it takes: ${grant}`
}
