import { isControlPlaneGuarded } from '../../clouds/ports/cloud-provider.ts'
import { type MirrorServiceOptions, mirrorService, apiServerService } from './mirror-service.ts'
import { slicesOf } from './mirror-objects.ts'
import { type ControllerDeclaration, defineController, controllerObserver } from '../loop/controller.ts'
import type { Reconciler } from '../loop/reconciler.ts'
import { type Source, watch } from '../loop/watch.ts'
import { type Key, splitKey } from '../../kube/objects.ts'
import { reflector } from '../../kube/reflector.ts'
import { endpointSlices, endpoints, services } from '../../kube/resource.ts'
import type { Watcher } from '../../kube/watch.ts'
import type { Dependencies, GuardianBase } from '../dependencies.ts'
import type { FailingServers } from './failing-servers.ts'
import type { KnownAddress } from './known-address.ts'

type Deps = MirrorServiceOptions & {
  client: Watcher
  /** The key of the Service. */
  service: Key
  address: Source<[]>
  failing: Source<[]>
}

/** How often we look without an event, because our watches do not show every change. */
const resyncMs = 60_000

/**
 * Maintains the mirror Service, through which the control-plane address reaches the API servers. It runs beside the
 * guardian of the address.
 */
export function mirrorServiceController(deps: Deps): ControllerDeclaration {
  const { address, failing, service: key } = deps
  const caches = cachesOf(deps)
  return {
    reconciler: mirrorService(deps),
    watches: [...caches, address, failing].map((source) => watch(source, () => [key])),
    prepare: async (signal) => caches.forEach((cache) => cache.start(signal)),
    keys: () => [key],
    resyncMs,
    retry: { firstMs: 100, maxMs: 10_000 },
  }
}

/** The caches that notify of changes to the mirror or the API servers. Nothing is read from them. */
function cachesOf({ client, log, service }: Deps) {
  const { namespace, name } = splitKey(service)
  const source = splitKey(apiServerService)
  const of = { client, log, namespace }
  const fieldSelector = `metadata.name=${name}`
  return [
    reflector({ ...of, resource: services, fieldSelector }),
    reflector({ ...of, resource: endpoints, fieldSelector }),
    reflector({ ...of, resource: endpointSlices, labelSelector: slicesOf(name) }),
    reflector({ ...of, resource: endpointSlices, namespace: source.namespace, labelSelector: slicesOf(source.name) }),
  ]
}

type LeftDeps = Pick<Dependencies, 'caches' | 'log'> & {
  vendor: Pick<Dependencies['vendor'], 'controlPlane' | 'controlPlaneBalancer' | 'policy'>
}

const leftText =
  'eip-admission no longer maintains this Service, because the settings do not name a control-plane address. ' +
  'Nodes still route its address to the API servers that it shows. Delete it, or set the tag of the address again'

/**
 * Reports a mirror Service that is no longer maintained, because the settings no longer name a control-plane address.
 */
export function leftMirrorController({ caches, vendor, log }: LeftDeps): ControllerDeclaration[] {
  if (isControlPlaneGuarded(vendor)) return []
  const { services: cache } = caches
  const reconciler: Reconciler = {
    name: 'left-mirror-service',
    async reconcile(key) {
      if (cache.get(key)) log.warn({ service: key }, leftText)
      return {}
    },
  }
  return [{ reconciler, needs: [cache], keys: () => [vendor.policy.controlPlaneService] }]
}

/** Maintains the mirror Service for as long as the work lasts. */
export type Mirror = (work: () => Promise<void>, signal: AbortSignal) => Promise<void>

type MirrorFacts = { known: KnownAddress; failing: FailingServers; controlPlane: { port?: number } }

/** The mirror of this process: every process that may move the address maintains it. */
export function mirrorBeside(
  { client, events, vendor, log, metrics, activity }: GuardianBase,
  { known, failing, controlPlane }: MirrorFacts,
): Mirror {
  const declaration = mirrorServiceController({
    client,
    events: events.of('control-plane'),
    log,
    service: vendor.policy.controlPlaneService,
    address: { current: () => known.current()?.address, onChange: (listener) => known.onChange(listener) },
    port: controlPlane.port,
    failing,
  })
  const controller = defineController(declaration, { log, observer: controllerObserver(metrics, activity) })
  return async (work, signal) => {
    const done = new AbortController()
    const kept = controller.run(AbortSignal.any([signal, done.signal])).catch((error: unknown) => {
      // The guardian continues, because its work matters more.
      if (!signal.aborted && !done.signal.aborted)
        log.error({ error }, 'the mirror Service could not be kept up to date')
    })
    try {
      await work()
    } finally {
      done.abort()
      await kept
    }
  }
}
