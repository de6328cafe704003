import { randomUUID } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import type { LeaseOptions } from '../../kube/lease.ts'
import type { Lease } from '../../kube/objects.ts'
import { leases } from '../../kube/resource.ts'
import { names } from '../../settings/installed-names.ts'
import { type KeptLease, keptLease, leaseDurationMs } from '../../kube/kept-lease.ts'
import type { ObjectRef } from './plan/plan.ts'
import { type RunDeps, stopIfAborted } from './steps.ts'
import { End } from './end.ts'

/** The lease that allows only one run of `apply` or `undo` at a time. */
export function lockAt(namespace: string): ObjectRef {
  return { namespace, name: names.takeoverLease }
}

/**
 * Carries out work while no other run of `apply` or `undo` does. A killed run keeps the lock until its lease expires,
 * which we measure as every contender for a lease does. A live run is reported to the person.
 */
export async function withLock<T>(
  lease: ObjectRef,
  deps: Omit<RunDeps, 'patienceMs'> & Pick<LeaseOptions, 'identity' | 'clock'>,
  work: (lock: KeptLease) => Promise<T>,
): Promise<T> {
  const taken = () =>
    new End(
      'refused',
      'another run took over while this one could not reach the API server; to see its progress: `eip-admission takeover plan`',
    )
  const { lockMs = leaseDurationMs, ...of } = deps
  const lock = keptLease({ ...of, lease, leaseDurationMs: lockMs, taken })
  try {
    await waitForLock(lock, lease, { ...deps, lockMs })
    return await work(lock)
  } catch (error) {
    // A run that was suspended wakes up in a failing call, but only the run that took the lock matters to the person.
    await lock.check().catch((lost: unknown) => {
      if (lost instanceof End) throw lost
    })
    throw error
  } finally {
    await lock.release()
  }
}

const lookMs = 1_000

async function waitForLock(lock: KeptLease, at: ObjectRef, deps: Omit<RunDeps, 'patienceMs'>): Promise<void> {
  const { client, tell, signal, clock, lockMs = leaseDurationMs } = deps
  let first: Lease | undefined
  while (!(await lock.claim())) {
    const stored = await client.get(leases, at)
    const worker = workerOf(stored)
    if (first && worker !== undefined && stored?.spec?.renewTime !== first.spec?.renewTime)
      throw new End('refused', `${worker}; wait until it has ended, or end it there, then run this command again`)
    if (!first && worker !== undefined) {
      first = stored
      tell(`${worker}; waiting up to ${lockMs / 1000} s to see whether it is still running`)
    }
    await clock.sleep(lookMs, signal)
    stopIfAborted(signal)
  }
}

/** A new identity of a run. It differs from those of `serve`, so nothing mistakes the run for its leader. */
export function identityOf(command: 'apply' | 'undo'): string {
  return `${userName()}@${hostname()}_takeover-${command}_${randomUUID()}`
}

/** The person and the command of a run with this identity, perhaps a killed one; undefined for other programs. */
export function runOf(identity: string) {
  return /^(?<who>.*)_takeover-(?<command>[a-z]+)_[^_]+$/s.exec(identity)?.groups
}

/** The run that holds the lock, for people; undefined if none does. */
function workerOf(lease: Lease | undefined): string | undefined {
  const { holderIdentity = '', acquireTime, renewTime } = lease?.spec ?? {}
  const { who, command } = runOf(holderIdentity) ?? {}
  const [since, renewed] = [acquireTime, renewTime].map((time) => time?.replace(/\.\d+/, '') ?? 'an unknown time')
  return who && `\`takeover ${command}\` of ${who} has been running since ${since} (last renewal ${renewed})`
}

/** The run that holds the lock and has renewed it recently, for people. */
export function livingWorker(lease: Lease | undefined, now: Date): string | undefined {
  const silentMs = now.getTime() - Date.parse(lease?.spec?.renewTime ?? '')
  // Twice the duration, because clocks may differ.
  return silentMs < 2 * leaseDurationMs ? workerOf(lease) : undefined
}

/**
 * The user who runs this command, for a colleague who looks for the other terminal. In a container the user may have no
 * name.
 */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
