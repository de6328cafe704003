import { defineController } from '../../controllers/loop/controller.ts'
import type { KnownAddress } from '../../controllers/control-plane/known-address.ts'
import type { Base } from '../base.ts'
import { mirrorServiceController } from '../../controllers/control-plane/mirror-declaration.ts'
import { controllerObserver } from '../../controllers/queue-metrics.ts'

/** The Service that leads from the control-plane address to the API servers. */
export type Mirror = {
  /** Another address is the control-plane address, or the first one is known. */
  addressChanged(): void
  /** Keeps the Service as long as the work goes on. */
  during(work: () => Promise<void>, signal: AbortSignal): Promise<void>
}

/** The mirror of this process: every process that may move the address keeps it. */
export function mirrorBeside(
  {
    client,
    events,
    vendor,
    log,
    metrics,
    activity,
  }: Pick<Base, 'client' | 'events' | 'vendor' | 'log' | 'metrics' | 'activity'>,
  { known, controlPlane }: { known: Pick<KnownAddress, 'current'>; controlPlane: { port?: number } },
): Mirror {
  const listeners: (() => void)[] = []
  const declaration = mirrorServiceController({
    client,
    events: events.of('control-plane'),
    log,
    service: vendor.policy.controlPlaneService,
    address: {
      current: () => known.current()?.address,
      onChange: (listener) => void listeners.push(listener),
    },
    port: controlPlane.port,
  })
  const controller = defineController(declaration, { log, observer: controllerObserver(metrics, activity) })
  return {
    addressChanged: () => listeners.forEach((listener) => listener()),
    async during(work, signal) {
      const done = new AbortController()
      const kept = controller.run(AbortSignal.any([signal, done.signal])).catch((error: unknown) => {
        // The guardian goes on: its work matters more.
        if (!signal.aborted && !done.signal.aborted) log.error({ error }, 'the mirror Service is not kept')
      })
      try {
        await work()
      } finally {
        done.abort()
        await kept
      }
    },
  }
}
