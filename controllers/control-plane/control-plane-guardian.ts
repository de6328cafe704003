import { lookRetry } from './cloud-looks.ts'
import { balancerAddress, type AddressReader, taggedAddress } from './control-plane-address.ts'
import { failingServers } from './failing-servers.ts'
import type { Guardian } from './lead-loop.ts'
import { knownAddress } from './known-address.ts'
import { wakeUp } from './wake-up.ts'
import { makeWatchdog } from './watchdog.ts'
import { systemClock as clock } from '../../kube/clock.ts'
import { type Election, election } from '../../kube/election.ts'
import { type Probe, apiServerProbe } from '../../kube/probe.ts'
import { names } from '../../settings/installed-names.ts'
import { addressGuardian, originsGuardian, type Parts } from './guardians.ts'
import { readGuardian } from './guardian-metrics.ts'
import { mirrorBeside } from './mirror-declaration.ts'
import { controlPlaneCaches } from './node-caches.ts'
import type { GuardianBase } from '../dependencies.ts'
import { type ProbeOptions, type Targets, probeTargets, ownPathProblem } from './targets.ts'
import { errorText } from '../loop/reconcile-key.ts'
import { repeatLater, backoffMs } from '../../lib/repeat.ts'

export type ControlPlaneFacts = ReturnType<typeof factsOf>

export type ControlPlaneGuardian = ReturnType<typeof makeGuardian>

/** The guardian of this process; undefined if the operator named no control-plane address. */
export function controlPlaneGuardian(base: GuardianBase): ControlPlaneGuardian | undefined {
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

/** The guardian with all its parts: the source of the address, and the loop that decides where it routes to. */
function makeGuardian(
  base: GuardianBase,
  controlPlane: ProbeOptions,
  { port, makeLoop }: { port: AddressReader; makeLoop: (parts: Parts) => Guardian },
) {
  const running = new AbortController()
  const parts = makeParts(base, controlPlane, { port, signal: running.signal })
  const { caches, known } = parts
  const loop = makeLoop(parts)
  const elected = makeElection(parts, loop)
  const leading = () => (elected.isLeader() ? loop : undefined)
  readGuardian(base.metrics, { known, leading, now: () => clock.now() })
  const problem = () => leading()?.problem()
  return {
    /**
     * Probes continuously, and moves the address while this replica leads. Resolves when the signal has aborted and all
     * work has ended.
     */
    async run(signal: AbortSignal) {
      signal.addEventListener('abort', () => running.abort(), { once: true })
      try {
        if (!signal.aborted) await runGuardian(parts, elected)
      } finally {
        running.abort()
      }
    },
    hasSynced: () => caches.hasSynced(),
    silentForMs: () => caches.silentForMs(),
    /** The problem that an operator should know; undefined if all is well, and while another guardian leads. */
    problem,
    /** The facts for the status page. */
    facts: () => factsOf(parts, elected, { name: port.name, problem: problem() }),
  }
}

function makeParts(
  base: GuardianBase,
  controlPlane: ProbeOptions,
  { port, signal }: { port: AddressReader; signal: AbortSignal },
): Parts {
  const { credentials, userAgent, log, settings } = base
  const [caches, awake, watchdog] = [controlPlaneCaches(base), wakeUp(clock), makeWatchdog(clock)]
  const probeOptions = { credentials, userAgent, timeoutMs: settings.process.probeTimeoutMs, log }
  // A machine that takes over the address must learn nothing about us.
  const probe = apiServerProbe({ ...probeOptions, introduces: false })
  const probeHost = apiServerProbe({ ...probeOptions, introduces: true })
  const known = knownAddress({ port, now: () => clock.now() })
  const { probeFailures: failures, probeSuccesses: successes } = settings.process
  const failing = failingServers({ failures, successes })
  const mirror = mirrorBeside(base, { known, failing, controlPlane })
  const shared = { base, caches, probe, known, awake, watchdog, mirror, signal }
  const onOutcome = () => failing.look(targets.nodes())
  const targets = makeTargets(shared, controlPlane, { probe: probeHost, onOutcome })
  known.onChange((assigned, before) => {
    log.info({ ...assigned, before: before?.machines }, 'control-plane address is assigned')
    targets.refresh()
    targets.forgetAddress()
    awake.wake()
  })
  return { ...shared, targets }
}

/** The knowledge of a guardian. Times of probes are on its own clock. */
function factsOf(
  { known, targets }: Parts,
  elected: Election,
  { name, problem }: { name: string; problem: string | undefined },
) {
  const { address, machines } = known.current() ?? {}
  const ageMs = known.ageMs()
  return {
    /** How people find it at the provider: `tag eip-tag`. */
    name,
    address,
    /** The machines that it routes to. */
    machines: machines ?? [],
    /** When it was last read from the provider; undefined before the first read. */
    readAtMs: ageMs === Infinity ? undefined : Date.now() - ageMs,
    isLeader: elected.isLeader(),
    leader: elected.holder() || undefined,
    nodes: targets.nodes(),
    /** Probes of the address itself; undefined if they would prove nothing from here. */
    probes: targets.address(),
    problem,
    /** Converts a time on the guardian's clock to a date. */
    dateOf: (clockMs: number) => Date.now() - (clock.now() - clockMs),
  }
}

function makeTargets(
  { base, caches, probe: probeAddress, known, awake }: Omit<Parts, 'targets'>,
  controlPlane: ProbeOptions,
  { probe, onOutcome }: { probe: Probe; onOutcome: () => void },
): Targets {
  const { log, vendor, settings, metrics } = base
  const { probeIntervalMs: intervalMs, probeTimeoutMs: timeoutMs, probeFailures, probeSuccesses } = settings.process
  return probeTargets({
    probe,
    probeAddress,
    intervalMs,
    timeoutMs,
    goodAfter: probeSuccesses,
    clock,
    caches,
    assigned: known.current,
    ids: vendor.providerIds,
    controlPlane,
    onOutcome(name, { isWell, failures, ms, reason }) {
      metrics.add('eip_admission_control_plane_probes_total', { node: name, result: isWell ? 'ok' : 'failed' })
      const facts = { name, ms: Math.round(ms), ...(!isWell && { failures, reason }) }
      log[isWell || failures > probeFailures ? 'debug' : 'info'](facts, isWell ? 'probe answered' : 'probe failed')
      if (!isWell) awake.wake()
      onOutcome()
    },
  })
}

/** Guardians always elect a leader, whatever --leader-elect says, because two that move at once would fight. */
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
      watchdog.turn()
      try {
        await mirror(() => loop.lead(signal, () => elected.leaseLeftMs()), signal)
      } finally {
        watchdog.end()
      }
    },
  })
  return elected
}

/** Probes, and leads whenever this replica holds the lease, until the guardian must stop. */
export async function runGuardian(parts: Parts, elected: Pick<Election, 'run'>): Promise<void> {
  const { base, caches, targets, watchdog, awake, signal } = parts
  caches.onChange(() => {
    targets.refresh()
    awake.wake()
  })
  caches.start(signal)
  void watchdog.watch(signal, (ms) => base.endAtOnce(`the guardian's loop has stalled for ${Math.round(ms / 1000)} s`))
  // Nothing notifies us when an interface of this machine gains or loses the address.
  void repeatLater(() => targets.refresh(), { everyMs: 10_000, signal, clock })
  try {
    await Promise.all([caches.synced(signal), firstLook(parts)])
    await elected.run(signal)
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    targets.stop()
  }
}

/**
 * Reads from the provider for the first time, and retries after each failure. Throws if a process that only guards the
 * address would reach the API server through it.
 */
async function firstLook({ base: { credentials, settings, log }, known, signal }: Parts): Promise<void> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      await known.find(signal)
      break
    } catch (error) {
      if (signal.aborted) return
      log.warn({ error: errorText(error) }, 'waiting for the provider')
      await clock.sleep(backoffMs(failures, lookRetry), signal)
    }
  }
  const address = known.current()?.address
  const problem = address === undefined ? undefined : await ownPathProblem(credentials, address)
  if (problem === undefined) return
  if (settings.process.only === 'control-plane') throw new Error(problem)
  log.error({ address, problem }, 'the control-plane address is not fully guarded')
}
