import { externalAddress } from '../balancers/node-origins.ts'
import { type BalancerGuardianOptions, balancerGuardian } from './balancer-guardian.ts'
import type { AddressPort } from './control-plane-address.ts'
import { guardian } from './guardian.ts'
import type { Guardian } from './lead-loop.ts'
import { reportMove, type MoveOccurrence, type Subject } from './move-report.ts'
import { controlPlaneWords } from './control-plane-nodes.ts'
import { keeper } from '../moves/keeper.ts'
import type { TriedMove } from '../moves/mover.ts'
import { systemClock as clock } from '../../kube/clock.ts'
import { splitKey } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import type { GuardianBase } from '../dependencies.ts'
import type { ControlPlaneCaches } from './node-caches.ts'
import type { KnownAddress } from './known-address.ts'
import type { WakeUp } from './wake-up.ts'
import type { Watchdog } from './watchdog.ts'
import type { Probe } from '../../kube/probe.ts'
import type { Mirror } from './mirror-declaration.ts'
import type { Targets } from './targets.ts'

/** The options of both guardians. */
function common({ base: { log, settings }, known, targets, awake, watchdog }: Parts) {
  const { probeFailures, probeSuccesses, probeIntervalMs, controlPlaneReadMs, nodeName } = settings.process
  return {
    known,
    nodes: targets.nodes,
    ownNode: nodeName,
    rules: { failures: probeFailures, successes: probeSuccesses },
    readIntervalMs: controlPlaneReadMs,
    probeIntervalMs,
    wakeUp: awake,
    clock,
    log,
    onTurn: watchdog.turn,
  }
}

/** The loop that keeps an address at one good control-plane node. */
export function addressGuardian(parts: Parts, port: AddressPort): Guardian {
  const shared = common(parts)
  const { base, targets } = parts
  return guardian({
    ...shared,
    keeper: keeper({
      rules: shared.rules,
      words: controlPlaneWords,
      what: 'the control-plane address',
      assign: port.assign,
      cooldownMs: base.settings.process.controlPlaneCooldownMs,
      clock,
      log: base.log,
      onAttempt: ({ reason }, error) => countMove(base, reason, error),
    }),
    address: targets.address,
    onMoved: (move) => void reportMoved(parts, move),
  })
}

/**
 * The loop that keeps good nodes behind a managed balancer. It probes the API servers themselves, because a balancer
 * answers while any of them does.
 */
export function originsGuardian(
  parts: Parts,
  balancer: Pick<BalancerGuardianOptions, 'balancers' | 'id'> & { port?: number },
): Guardian {
  const { base, caches, known } = parts
  const isShared = (address: string) => address === known.current()?.address
  return balancerGuardian({
    ...common(parts),
    ...balancer,
    port: balancer.port,
    external: (name) => {
      const node = caches.nodes().find(({ metadata }) => metadata.name === name)
      return externalAddress(node?.status, isShared)
    },
    onAttempt: (error) => countMove(base, 'origins', error),
  })
}

function countMove({ metrics }: GuardianBase, reason: string, error: string | undefined): void {
  const result = error === undefined ? 'ok' : 'error'
  metrics.add('eip_admission_control_plane_moves_total', { reason, result })
}

function reportMoved({ base, caches, probe, targets, signal }: Parts, move: TriedMove): Promise<void> {
  const options = {
    nodeWith: (machine: string) => targets.nodes().find((node) => node.machine === machine),
    isAnswering: () => {
      const endpoint = targets.addressEndpoint()
      return endpoint && probe(endpoint, signal).then(({ isWell }) => isWell)
    },
    event: subjectEvents(base, caches),
    metrics: base.metrics,
    clock,
    log: base.log,
  }
  return reportMove(move, options, signal)
}

/** Records Events about control-plane nodes and the mirror Service, if they exist. */
function subjectEvents(
  { client, events, vendor, log }: GuardianBase,
  caches: ControlPlaneCaches,
): (subject: Subject, occurrence: MoveOccurrence) => void {
  const recorder = events.of('control-plane')
  const onService = async (occurrence: MoveOccurrence) => {
    try {
      const service = await client.get(services, splitKey(vendor.policy.controlPlaneService))
      if (service) recorder.record(service, occurrence)
    } catch (error) {
      log.debug({ error: String(error) }, 'no Event about the mirror Service: it could not be read')
    }
  }
  return (subject, occurrence) => {
    if (subject === 'mirror-service') return void onService(occurrence)
    const node = caches.nodes().find(({ metadata }) => metadata.name === subject.node)
    if (node) recorder.record(node, occurrence)
  }
}

/** The parts of a process's guardian. */
export type Parts = {
  base: GuardianBase
  caches: ControlPlaneCaches
  probe: Probe
  known: KnownAddress
  targets: Targets
  awake: WakeUp
  watchdog: Watchdog
  mirror: Mirror
  /** Aborts when the guardian must stop. */
  signal: AbortSignal
}
