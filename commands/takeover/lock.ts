import { randomUUID } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import type { KubeClient } from '../../kube/client.ts'
import type { Clock } from '../../kube/clock.ts'
import { leaseRecord } from '../../kube/lease.ts'
import type { Lease } from '../../kube/objects.ts'
import { leases } from '../../kube/resource.ts'
import { names } from '../../settings/installed-names.ts'
import { type KeptLease, keptLease, leaseDurationMs } from '../../kube/kept-lease.ts'
import type { ObjectRef } from './plan/plan.ts'
import { End } from './end.ts'

export type LockDeps = {
  client: KubeClient
  namespace: string
  command: 'apply' | 'undo'
  tell: (line: string) => void
  signal: AbortSignal
  clock: Clock
  /** How long the lock of a dead run counts. */
  lockMs?: number | undefined
}

/** The lease that allows only one run of `apply` or `undo` at a time. */
export function lockAt(namespace: string): ObjectRef {
  return { namespace, name: names.takeoverLease }
}

/**
 * Carries out work while no other run of `apply` or `undo` does. A killed run keeps the lock until its lease expires,
 * which we measure as every contender for a lease does. A live run is reported to the person.
 */
export async function withLock<T>(deps: LockDeps, work: (lock: KeptLease) => Promise<T>): Promise<T> {
  const lock = await takeLock(deps)
  try {
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

async function takeLock({ client, namespace, command, tell, signal, clock, ...more }: LockDeps): Promise<KeptLease> {
  const { lockMs: durationMs = leaseDurationMs } = more
  const at = lockAt(namespace)
  const identity = `${userName()}@${hostname()}_takeover-${command}_${randomUUID()}`
  const record = leaseRecord({ client, lease: at, identity, leaseDurationMs: durationMs, callTimeoutMs: 5_000, clock })
  const taken = () =>
    new End(
      'refused',
      'another run took over while this one could not reach the API server; to see where it stands: `eip-admission takeover plan`',
    )
  const lock = keptLease(record, { clock, taken, durationMs })
  let first: Lease | undefined
  while (!(await lock.claim())) {
    const stored = await client.get(leases, at)
    const worker = workerOf(stored)
    if (first && worker !== undefined && stored?.spec?.renewTime !== first.spec?.renewTime)
      throw new End('refused', `${worker}; wait until it has ended, or end it there, then run this command again`)
    if (!first && worker !== undefined) {
      first = stored
      tell(`${worker}; waiting up to ${durationMs / 1000} s to see whether it is still running`)
    }
    await clock.sleep(lookMs, signal)
    if (signal.aborted) throw new End('stopped', 'stopped')
  }
  return lock
}

/** The run that holds the lock, for people; undefined if none does. */
function workerOf(lease: Lease | undefined): string | undefined {
  const { holderIdentity = '', acquireTime, renewTime } = lease?.spec ?? {}
  if (holderIdentity === '') return undefined
  const [, who = holderIdentity, command = ''] = /^(.*)_takeover-([a-z]+)_[^_]+$/s.exec(holderIdentity) ?? []
  const [since, renewed] = [acquireTime, renewTime].map((time) => time?.replace(/\.\d+/, '') ?? 'an unknown time')
  return `\`takeover ${command}\` of ${who} has been running since ${since} (last renewal ${renewed})`
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
