// The controller of the mirror Service, with the rights of a guardian and an address that the test decides.
import { mirrorServiceController } from '../../controllers/control-plane/mirror-declaration.ts'
import { noObserver } from '../fakes/observer.ts'
import { defineController } from '../../controllers/loop/controller.ts'
import { connect } from '../../kube/connect.ts'
import { eventRecorder } from '../../kube/events.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import type { Log } from '../../kube/log.ts'
import { names, serviceAccountUser } from '../../settings/installed-names.ts'
import type { ControlPlane } from '../../sandbox/control-plane/start.ts'

/** The account of a process that only guards the control-plane address. */
export const guardianUser = serviceAccountUser('eip-admission', names.guardian)

export type GuardedMirror = {
  /** Sets the control-plane address. */
  setAddress: (address: string | undefined) => void
  /** Says that the API servers at these addresses fail. */
  setFailing: (servers: string[]) => void
  /** The log, as text. */
  log: string[]
  stop: () => Promise<void>
}

/** Runs the controller until it is stopped. */
export function guardMirror(
  controlPlane: Pick<ControlPlane, 'kubeconfigFor'>,
  { key, port, user = guardianUser }: { key: string; port?: number; user?: string },
): GuardedMirror {
  const lines: string[] = []
  const line = (...all: unknown[]) => void lines.push(JSON.stringify(all, (_, value: unknown) => textOf(value)))
  const log: Log = { debug: line, info: line, warn: line, error: line }
  const file = controlPlane.kubeconfigFor(user)
  const client = connect(kubeconfig({ file }), { userAgent: 'test' })
  const recorder = eventRecorder({ client, component: 'control-plane', instance: 'test', log })
  const listeners: (() => void)[] = []
  let address: string | undefined
  let failing = new Set<string>()
  const declaration = mirrorServiceController({
    client,
    events: recorder,
    log,
    service: key,
    address: { current: () => address, onChange: (listener) => void listeners.push(listener) },
    port,
    failing: { has: (server) => failing.has(server), onChange: (listener) => void listeners.push(listener) },
  })
  const stop = new AbortController()
  const running = defineController(declaration, { log, observer: noObserver }).run(stop.signal)
  const ended = running.catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  return {
    log: lines,
    setAddress(wanted) {
      address = wanted
      for (const listener of listeners) listener()
    },
    setFailing(servers) {
      failing = new Set(servers)
      for (const listener of listeners) listener()
    },
    async stop() {
      stop.abort()
      await ended
      await recorder.written()
    },
  }
}

function textOf(value: unknown): unknown {
  return value instanceof Error ? value.message : value
}
