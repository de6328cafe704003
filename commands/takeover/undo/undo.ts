import type { KubeClient } from '../../../kube/client.ts'
import { type Clock, systemClock } from '../../../kube/clock.ts'
import { type Key, keyOf } from '../../../kube/objects.ts'
import { claimKey, phaseOf, reservationIdOf } from '../../../ledger/record/elastic-ip.ts'
import { type Found, predecessorNamed } from '../found.ts'
import { holdLease } from '../lease-steps.ts'
import { metallbStep } from './metallb-step.ts'
import type { KeptLease } from '../../../kube/kept-lease.ts'
import { withLock } from '../lock.ts'
import { type Progress, type ProgressStore, progressStore } from '../progress.ts'
import { returnStep } from './return-step.ts'
import type { BegunStep } from '../takeover-status.ts'
import { Refusal, type Step, type StepResult, runSteps } from '../steps.ts'
import { leavesReservation } from './undo-service.ts'
import {
  type SharedService,
  knownRecords,
  listServices,
  recordsStep,
  servicesStep,
  webhooksStep,
} from './undo-steps.ts'
import { isStopped, ownWorkloads, readWorkloads, stopStep } from '../workloads.ts'

export type UndoDeps = {
  client: KubeClient
  namespace: string
  tell: (line: string) => void
  signal: AbortSignal
  patienceMs: number
  /** How long the lock of a dead run counts. */
  lockMs?: number | undefined
  clock?: Clock
}

/** A reservation that the predecessor will not look after. The project pays for it until a person deletes it. */
export type LeftReservation = { id: string; address: string | undefined; reason: string }

/** `title`: the predecessor's name for people. */
export type UndoResult = { title: string; steps: StepResult[]; reservations: LeftReservation[] }

/** Brings the predecessor back, from wherever a takeover stands. */
export async function undoTakeover(deps: UndoDeps): Promise<UndoResult> {
  const { client, namespace, tell, signal, lockMs, clock = systemClock } = deps
  // Where nothing is recorded, not even a lock is written.
  await recorded(progressStore(client, namespace), namespace)
  return withLock({ client, namespace, command: 'undo', tell, signal, lockMs, clock }, async (lock) => {
    const progress = progressStore(client, namespace)
    const { found } = await recorded(progress, namespace)
    return carryOut({ ...deps, clock, progress, found, lock })
  })
}

/** What an earlier run recorded. */
async function recorded(progress: ProgressStore, namespace: string): Promise<Progress> {
  const before = await progress.read()
  if (before) return before
  throw new Refusal(
    `namespace ${namespace} has no record of a takeover: \`eip-admission takeover apply\` never ran here, or its undo is done`,
  )
}

type Work = UndoDeps & { clock: Clock; progress: ProgressStore; found: Found; lock: KeptLease }

async function carryOut(of: Work): Promise<UndoResult> {
  const { client, namespace, tell, signal, patienceMs, clock, progress, found, lock } = of
  const isPredecessorBack = () => isAnyRunning(client, found)
  const hold = holdLease({ client, lease: found.ourLease, isPredecessorBack, clock })
  const check = async () => {
    await lock.check()
    await hold.check()
  }
  const work = { client, found, signal, check, clock }
  const left = new Map<string, LeftReservation>()
  const { finalizers, title } = predecessorNamed(found.predecessor)
  // Read before anything goes: afterwards nobody knows of them.
  const noting = (step: Step): Step => ({
    ...step,
    async act() {
      // The first look knows the most: what a later one misses may be gone by then.
      for (const one of await leftReservations(client, finalizers)) if (!left.has(one.id)) left.set(one.id, one)
      await step.act?.()
    },
  })
  const steps = [
    webhooksStep(work),
    stopStep(client, {
      name: 'stop',
      title: 'Stop eip-admission in the cluster',
      workloads: () => ownWorkloads(client, namespace),
      isOurs: true,
    }),
    hold.step,
    metallbStep(work),
    noting(servicesStep(work)),
    noting(recordsStep(work)),
    returnStep(client, found, hold.release),
  ]
  const record = (step: BegunStep) => progress.write({ state: 'undoing', step, found })
  try {
    const results = await runSteps(steps, { record, check, tell, signal, patienceMs, clock })
    await check()
    await progress.remove()
    return { title, steps: results, reservations: [...left.values()] }
  } finally {
    await hold.release()
  }
}

async function isAnyRunning(client: KubeClient, { workloads }: Found): Promise<boolean> {
  return !(await readWorkloads(client, workloads)).every(isStopped)
}

const deletionText = ', and its deletion was requested: the cloud may not have it any more'

/** Why a Service leaves its reservation behind, by its key; nothing if the predecessor or a live Service has it. */
function leavingReason({ service, sharers }: SharedService, finalizers: readonly string[]): [Key, string][] {
  const key = keyOf(service)
  if (sharers.length > 0)
    return [[key, `Service ${key} is being deleted, and Service ${sharers.join(', ')} shows its address: keep it`]]
  return leavesReservation(service, finalizers) ? [[key, `Service ${key} is being deleted`]] : []
}

/** The reservations of records that no live Service holds: retained, provisioned and warm ones. */
async function leftReservations(client: KubeClient, finalizers: readonly string[]): Promise<LeftReservation[]> {
  const [records, all] = await Promise.all([knownRecords(client), listServices(client)])
  const existing = new Set(all.map(({ service }) => keyOf(service)))
  const leaving = new Map(all.flatMap((one) => leavingReason(one, finalizers)))
  return records.flatMap((record) => {
    const id = reservationIdOf(record)
    const key = claimKey(record)
    if (id === undefined) return []
    const address = record.status?.address
    const phase = phaseOf(record)
    const reason = key === undefined ? undefined : leaving.get(key)
    if (reason !== undefined) return [{ id, address, reason }]
    if (phase === 'Bound' && key !== undefined && !existing.has(key))
      return [{ id, address, reason: `Service ${key} does not exist any more` }]
    const isUnused = phase === 'Released' || phase === 'Available' || phase === 'Releasing'
    const deletion = record.status?.deletionRequestedAt === undefined ? '' : deletionText
    return isUnused ? [{ id, address, reason: `ElasticIP ${record.metadata.name} was ${phase}${deletion}` }] : []
  })
}
