import { balancerAddress } from '../../controllers/control-plane/balancer-address.ts'
import { type AddressReader, taggedAddress } from '../../controllers/control-plane/control-plane-address.ts'
import type { Guardian } from '../../controllers/control-plane/guardian.ts'
import { knownAddress } from '../../controllers/control-plane/known-address.ts'
import { wakeUp } from '../../controllers/control-plane/wake-up.ts'
import { makeWatchdog } from '../../controllers/control-plane/watchdog.ts'
import { systemClock as clock } from '../../kube/clock.ts'
import { type Election, election } from '../../kube/election.ts'
import { type Probe, apiServerProbe } from '../../kube/probe.ts'
import { names } from '../../settings/installed-names.ts'
import type { Base } from '../base.ts'
import { addressGuardian, originsGuardian } from './guardians.ts'
import { guardianMetrics } from './guardian-metrics.ts'
import { mirrorBeside } from './mirror.ts'
import { controlPlaneCaches } from './node-caches.ts'
import type { Parts } from './parts.ts'
import type { ControlPlaneFacts } from '../../status-page/sections/control-plane.ts'
import { runGuardian, runUntilAborted } from './run-guardian.ts'
import { type ProbeOptions, type Targets, probeTargets } from './targets.ts'

/** The guardian of the control-plane address with all that it needs. */
export type ControlPlaneGuardian = {
  /** Probes all the time, and moves the address while this replica leads; until the signal aborts and all has ended. */
  run(signal: AbortSignal): Promise<void>
  hasSynced(): boolean
  silentForMs(): number
  /** The problem that an operator should know; undefined if all is well, and while another guardian leads. */
  problem: () => string | undefined
  /** The facts for the status page. */
  facts(): ControlPlaneFacts
}

/** The guardian of this process; undefined if the operator named no control-plane address. */
export function controlPlaneGuardian(base: Base): ControlPlaneGuardian | undefined {
  const { controlPlane, controlPlaneBalancer, assignments, managedBalancers } = base.vendor
  if (controlPlaneBalancer !== undefined && managedBalancers !== undefined) {
    const { client } = managedBalancers
    return makeGuardian(
      base,
      { ...controlPlaneBalancer, byHostAddress: true },
      {
        port: balancerAddress(client, controlPlaneBalancer.id),
        makeLoop: (parts) => originsGuardian(parts, { ...controlPlaneBalancer, balancers: client }),
      },
    )
  }
  if (controlPlane === undefined || assignments === undefined) return undefined
  const port = taggedAddress(assignments, controlPlane.tag)
  return makeGuardian(base, controlPlane, { port, makeLoop: (parts) => addressGuardian(parts, port) })
}

/** The source of the control-plane address, and the loop that decides where it routes to. */
type LoopOptions = { port: AddressReader; makeLoop: (parts: Parts) => Guardian }

/** A read of the cloud that takes longer is repeated instead. */
const readTimeoutMs = 8_000

function makeGuardian(base: Base, controlPlane: ProbeOptions, { port, makeLoop }: LoopOptions): ControlPlaneGuardian {
  const running = new AbortController()
  const { credentials, userAgent, log, settings } = base
  const [caches, awake, watchdog] = [controlPlaneCaches(base), wakeUp(clock), makeWatchdog(clock)]
  const { probeTimeoutMs: timeoutMs } = settings.process
  const probeOptions = { credentials, userAgent, timeoutMs, log }
  // A machine that takes over the address must learn nothing of us.
  const probe = apiServerProbe({ ...probeOptions, introduces: false })
  const probeHost = apiServerProbe({ ...probeOptions, introduces: true })
  const known = knownAddress({
    port,
    now: () => clock.now(),
    timeoutMs: readTimeoutMs,
    onChange(assigned, before) {
      log.info({ ...assigned, before: before?.machines }, 'control-plane address is assigned')
      targets.refresh()
      targets.forgetAddress()
      mirror.addressChanged()
      awake.wake()
    },
  })
  const mirror = mirrorBeside(base, { known, controlPlane })
  const metrics = guardianMetrics(base.metrics, {
    known,
    leading: () => (elected.isLeader() ? loop : undefined),
    now: () => clock.now(),
  })
  const targets = makeTargets({ base, caches, probe, probeHost, known, metrics, awake }, controlPlane)
  const parts: Parts = { base, caches, probe, known, targets, metrics, awake, watchdog, mirror, signal: running.signal }
  const loop = makeLoop(parts)
  const elected = makeElection(parts, loop)
  return {
    run: (signal) => runUntilAborted(() => runGuardian(parts, elected), running, signal),
    hasSynced: () => caches.hasSynced(),
    silentForMs: () => caches.silentForMs(),
    problem: () => (elected.isLeader() ? loop.problem() : undefined),
    facts: () => factsOf(parts, { name: port.name, elected, loop }),
  }
}

type Deciding = { name: string; elected: Election; loop: Guardian }

function factsOf({ known, targets }: Parts, { name, elected, loop }: Deciding): ControlPlaneFacts {
  const assigned = known.current()
  const isLeader = elected.isLeader()
  const dateOf = (clockMs: number) => Date.now() - (clock.now() - clockMs)
  const ageMs = known.ageMs()
  return {
    name,
    address: assigned?.address,
    machines: assigned?.machines ?? [],
    readAtMs: ageMs === Infinity ? undefined : Date.now() - ageMs,
    isLeader,
    leader: elected.holder() || undefined,
    nodes: targets.nodes(),
    probes: targets.address(),
    problem: isLeader ? loop.problem() : undefined,
    dateOf,
  }
}

function makeTargets(
  {
    base,
    caches,
    probe,
    probeHost,
    known,
    metrics,
    awake,
  }: Pick<Parts, 'base' | 'caches' | 'probe' | 'known' | 'metrics' | 'awake'> & { probeHost: Probe },
  controlPlane: ProbeOptions,
): Targets {
  const { log, vendor, settings } = base
  const { probeIntervalMs: intervalMs, probeTimeoutMs: timeoutMs, probeFailures, probeSuccesses } = settings.process
  return probeTargets({
    probe: probeHost,
    probeAddress: probe,
    intervalMs,
    timeoutMs,
    goodAfter: probeSuccesses,
    clock,
    caches,
    assigned: known.current,
    ids: vendor.providerIds,
    controlPlane,
    onOutcome(name, { isWell, failures, ms, reason }) {
      metrics.probe(name, isWell)
      const facts = { name, ms: Math.round(ms), ...(!isWell && { failures, reason }) }
      log[isWell || failures > probeFailures ? 'debug' : 'info'](facts, isWell ? 'probe answered' : 'probe failed')
      if (!isWell) awake.wake()
    },
  })
}

/** Guardians always elect one of them, whatever --leader-elect says: two that move at once would fight. */
function makeElection({ base, watchdog, mirror }: Parts, loop: Guardian): Election {
  const { leaseClient, identity, log, settings } = base
  const { leaseNamespace, guardianLeaseMs, guardianRenewDeadlineMs, guardianRetryMs } = settings.process
  const elected = election({
    client: leaseClient,
    lease: { namespace: leaseNamespace, name: names.controlPlaneLease },
    identity,
    leaseDurationMs: guardianLeaseMs,
    renewDeadlineMs: guardianRenewDeadlineMs,
    retryPeriodMs: guardianRetryMs,
    hesitationMs: loop.hesitationMs,
    log,
    async lead(signal) {
      watchdog.begin()
      try {
        await mirror.during(() => loop.lead(signal, () => elected.leaseLeftMs()), signal)
      } finally {
        watchdog.end()
      }
    },
  })
  return elected
}
