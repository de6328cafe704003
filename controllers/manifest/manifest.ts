import { KubeError } from '../../kube/errors.ts'
import { type KubeObject, keyOf } from '../../kube/objects.ts'
import { type Reconciler, Terminal } from '../loop/reconciler.ts'
import type { ControllerDeclaration } from '../loop/controller.ts'
import type { Dependencies } from '../dependencies.ts'
import { readManifest } from '../../kube/manifest-file.ts'

/** The only key of a manifest, whose objects belong together. */
const manifestKey = 'manifest'

const fieldManager = 'eip-admission-manifest'

type Deps = Pick<Dependencies, 'client' | 'settings' | 'log'>

/** Installs the announcing software where the operator set its manifest. */
export function manifestController(deps: Deps): ControllerDeclaration[] {
  const { loadBalancerManifest: file } = deps.settings.cluster
  if (file === undefined) return []
  const retry = { firstMs: 1000, maxMs: 300_000 }
  return [{ reconciler: manifest(deps, file), keys: () => [manifestKey], retry }]
}

/**
 * Applies the objects of an operator's manifest in their order and throws the failures. A failure stops no other
 * objects: an object may need others first, and an old manifest may hold kinds that a new API server lacks.
 */
function manifest({ client, log }: Deps, file: string): Reconciler {
  return {
    name: 'manifest',
    async reconcile(_key, signal) {
      // Read again, because the file may have changed since the process started.
      const { objects, wrong } = readManifest(file)
      if (!objects) throw new Terminal(`the load balancer manifest is not applied: ${file} ${wrong}`)
      const failures: Error[] = []
      for (const object of objects) {
        const error = await apply(client, object, signal).catch((reason: Error) => reason)
        signal.throwIfAborted()
        if (error) failures.push(error)
      }
      if (failures.length > 0) throw new Error(failureText(failures, { of: objects.length, file }))
      log.info({ objects: objects.length }, 'manifest applied')
      return {}
    },
  }
}

/** Returns an error if the API server does not serve the object's kind, and throws if it refuses the object. */
async function apply(client: Deps['client'], object: KubeObject, signal: AbortSignal): Promise<Error | undefined> {
  const resource = await client.resource(object, { signal })
  if (!resource) return new Error(`${object.kind} ${keyOf(object)}: the API server does not serve ${object.apiVersion}`)
  await client.apply(resource, object, { fieldManager, signal })
  return undefined
}

/** More messages would hide what they have in common. */
const maxShown = 3

/** We apply a manifest with our own rights, which do not cover most of what a manifest installs. */
function failureText(errors: Error[], { of, file }: { of: number; file: string }): string {
  const shown = errors.slice(0, maxShown).map(({ message }) => message)
  const more = errors.length > maxShown ? [`${errors.length - maxShown} more`] : []
  const text = `${errors.length} of ${of} objects are not applied: ${[...shown, ...more].join('; ')}`
  const isForbidden = errors.some((error) => error instanceof KubeError && error.status === 403)
  if (!isForbidden) return text
  const grant = `eip-admission install with the flags that it had and --load-balancer-manifest=${file}`
  // `install` applies all its objects, so it would revert what the chart has set.
  return `${text}. Where Helm installed eip-admission, apply the file yourself. Elsewhere give the process the rights: run ${grant}`
}
