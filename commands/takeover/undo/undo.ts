import type { KubeClient } from '../../../kube/client.ts'
import { type Key, keyOf } from '../../../kube/objects.ts'
import { configMaps } from '../../../kube/resource.ts'
import { claimKey, type ElasticIP, phaseOf, reservationIdOf } from '../../../ledger/record/elastic-ip.ts'
import { listedOrphans } from '../../../ledger/sweep/orphan-list.ts'
import { names } from '../../../settings/installed-names.ts'
import { type LeftReservation, newFinalizers, predecessorNamed } from '../found.ts'
import { holdStep } from '../lead-lease.ts'
import { type Progress, readProgress } from '../progress.ts'
import { managerFinding } from '../plan/workload-managers.ts'
import { End, endIfBlocked } from '../end.ts'
import { lackedRights, rightsFindings, undoRights } from '../rights.ts'
import { type Run, type RunDeps, lockedRun } from '../run.ts'
import type { TakeoverStep, StepResult } from '../steps.ts'
import { isStopped, ownWorkloads, readWorkloads, stopStep } from '../workloads.ts'
import { documentStep } from './document-step.ts'
import { metallbStep } from './metallb-step.ts'
import { leavesReservation } from './undo-service.ts'
import {
  type SharedService,
  type UndoWork,
  readServices,
  recordsStep,
  returnStep,
  servicesStep,
  webhooksStep,
} from './undo-steps.ts'

export type UndoDeps = RunDeps & { namespace: string }

/** `title`: the predecessor's name for people. */
export type UndoResult = { title: string; steps: StepResult[]; reservations: LeftReservation[] }

/** Brings the predecessor back, however far a takeover is. */
export async function undoTakeover(deps: UndoDeps): Promise<UndoResult> {
  const { client, namespace } = deps
  // Without a record of a takeover, `undo` does not even write a lock.
  const { found } = recorded(await readProgress(client, namespace), namespace)
  const { title } = predecessorNamed(found.predecessor)
  const running = (await ownWorkloads(client, namespace)).filter((workload) => !isStopped(workload))
  const needed = undoRights({ namespace, ...found, lease: found.ourLease, metallb: found.metallb?.namespace })
  endIfBlocked([
    ...rightsFindings(await lackedRights(client, needed), 'undo'),
    ...running.flatMap((workload) => managerFinding(workload, title)),
  ])
  const of = { namespace, command: 'undo', lease: found.ourLease } as const
  return lockedRun(deps, of, async (run) => ({ title, ...(await carryOut(deps, run)) }))
}

/** The record of an earlier run. */
function recorded(before: Progress | undefined, namespace: string): Progress {
  if (before) return before
  throw new End(
    'refused',
    `namespace ${namespace} has no record of a takeover: \`eip-admission takeover apply\` never ran here, or its undo is done`,
  )
}

async function carryOut({ client, namespace, signal, tell }: UndoDeps, run: Run): Promise<Omit<UndoResult, 'title'>> {
  const { clock, lead, check, save } = run
  const before = recorded(run.before, namespace).found
  const found = { ...before, left: [...(before.left ?? [])] }
  const resetting = resettingSteps({ client, found, signal, check, clock }, { left: found.left, save }, namespace)
  await tellResets(tell, resetting)
  const isPredecessorBack = async () => !(await readWorkloads(client, found.workloads)).every(isStopped)
  const steps = await run.carryOut(
    [
      webhooksStep({ client, check }),
      stopStep(client, {
        name: 'stop',
        title: 'Stop eip-admission in the cluster',
        workloads: () => ownWorkloads(client, namespace),
        isOurs: true,
      }),
      holdStep(client, lead, isPredecessorBack),
      ...resetting,
      returnStep(client, found, lead.release),
    ],
    found,
  )
  return { steps, reservations: found.left }
}

/** The steps that write or remove what was written since the takeover. */
function resettingSteps(work: UndoWork, notes: Notes, namespace: string): TakeoverStep[] {
  const { client, found } = work
  const noting = leftNotes({ client, namespace, finalizers: newFinalizers(found) }, notes)
  return [
    metallbStep(work),
    ...(found.document ? [documentStep(work)] : []),
    noting(servicesStep(work)),
    noting(recordsStep(work)),
  ]
}

/** Says what is written or removed, before anything is. */
async function tellResets(tell: (line: string) => void, steps: readonly TakeoverStep[]): Promise<void> {
  tell('It resets what was written since the takeover:')
  for (const step of steps) tell(`  ${step.title}; ${(await step.missing())?.text ?? 'nothing is left'}`)
}

type Notes = { left: LeftReservation[]; save: () => Promise<void> }

/**
 * Lets a step note the reservations that nobody will look after. They are read and recorded before it acts, as nobody knows
 * of them afterwards.
 */
function leftNotes(of: LeftAt, { left, save }: Notes): (step: TakeoverStep) => TakeoverStep {
  return (step) => ({
    ...step,
    async act() {
      const { length } = left
      // The first look knows the most: what a later one misses may be gone by then.
      for (const one of await leftReservations(of)) if (!left.some(({ id }) => id === one.id)) left.push(one)
      if (left.length > length) await save()
      await step.act?.()
    },
  })
}

const deletionText = ', and its deletion was requested: the provider may not have it any more'

/** Why a Service leaves its reservation behind, by its key; nothing if the predecessor or a live Service has it. */
function leavingReason({ service, sharers }: SharedService, finalizers: readonly string[]): [Key, string][] {
  const key = keyOf(service)
  if (sharers.length > 0)
    return [[key, `Service ${key} is being deleted, and Service ${sharers.join(', ')} shows its address: keep it`]]
  return leavesReservation(service, finalizers) ? [[key, `Service ${key} is being deleted`]] : []
}

type LeftAt = { client: KubeClient; namespace: string; finalizers: readonly string[] }

/**
 * The reservations that no live Service holds: those of records in any phase, and those without a record that the last sweep
 * saw.
 */
async function leftReservations({ client, namespace, finalizers }: LeftAt): Promise<LeftReservation[]> {
  const [{ all, records }, map] = await Promise.all([
    readServices(client),
    client.get(configMaps, { namespace, name: names.ledgerConfigMap }),
  ])
  const recorded = leftRecords(records, all, finalizers)
  const ids = new Set(records.map(reservationIdOf))
  const orphans = listedOrphans(map).filter(({ id }) => !ids.has(id))
  return [...recorded, ...orphans.map((one) => ({ ...one, reason: orphanText }))]
}

const orphanText = 'the last sweep found no Service for it, and may have deleted it since'

function leftRecords(
  records: readonly ElasticIP[],
  all: readonly SharedService[],
  finalizers: readonly string[],
): LeftReservation[] {
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
    const isUnused = phase === 'Released' || phase === 'Available' || phase === 'Releasing'
    if (!isUnused && key !== undefined && existing.has(key)) return []
    if (phase === 'Bound' && key !== undefined)
      return [{ id, address, reason: `Service ${key} does not exist any more` }]
    const deletion = record.status?.deletionRequestedAt === undefined ? '' : deletionText
    return [{ id, address, reason: `ElasticIP ${record.metadata.name} was ${phase}${deletion}` }]
  })
}
