import { keyOf } from '../../../kube/objects.ts'
import { configMaps } from '../../../kube/resource.ts'
import { claimKey, type ElasticIP, phaseOf, reservationIdOf } from '../../../ledger/record/elastic-ip.ts'
import { listedOrphans } from '../../../ledger/identity/ledger-map.ts'
import { names } from '../../../settings/installed-names.ts'
import { type LeftReservation, newFinalizers, predecessorNamed } from '../found.ts'
import { holdStep } from '../lead-lease.ts'
import { type Progress, readProgress } from '../progress.ts'
import { managerFinding } from '../plan/workload-managers.ts'
import { End, endIfBlocked } from '../end.ts'
import { lackedRights, rightsFindings, undoRights } from '../rights.ts'
import { type Run, type RunDeps, lockedRun } from '../run.ts'
import type { TakeoverStep } from '../steps.ts'
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

/** The predecessor's name for people, and the reservations that no program will look after. */
export type UndoResult = { title: string; reservations: LeftReservation[] }

/** Brings the predecessor back, however far the takeover got. */
export async function undoTakeover(deps: UndoDeps): Promise<UndoResult> {
  const { client, namespace } = deps
  // Without a record of a takeover, `undo` writes nothing, not even a lock.
  const { found } = recorded(await readProgress(client, namespace), namespace)
  const { title } = predecessorNamed(found.predecessor)
  const running = (await ownWorkloads(client, namespace)).filter((workload) => !isStopped(workload))
  const needed = undoRights({ namespace, ...found, lease: found.ourLease, metallb: found.metallb?.namespace })
  const ofRights = rightsFindings(await lackedRights(client, needed), 'undo')
  endIfBlocked([ofRights, running.flatMap((workload) => managerFinding(workload, title))].flat())
  const of = { namespace, command: 'undo', lease: found.ourLease } as const
  return lockedRun(deps, of, async (run) => ({ title, reservations: await carryOut(deps, run) }))
}

/** The record of an earlier run. */
function recorded(before: Progress | undefined, namespace: string): Progress {
  if (before) return before
  throw new End(
    'refused',
    `namespace ${namespace} has no record of a takeover: \`eip-admission takeover apply\` never ran here, or its undo is done`,
  )
}

async function carryOut({ client, namespace, signal, tell }: UndoDeps, run: Run): Promise<LeftReservation[]> {
  const { clock, lead, check, save } = run
  const before = recorded(run.before, namespace).found
  const found = { ...before, left: [...(before.left ?? [])] }
  const work = { client, found, signal, check, clock }
  const noting = (step: TakeoverStep): TakeoverStep => ({
    ...step,
    async act() {
      if (noteLeft(found.left, await leftReservations(work, namespace))) await save()
      await step.act?.()
    },
  })
  const resetting = [
    metallbStep(work),
    ...(found.document ? [documentStep(work)] : []),
    noting(servicesStep(work)),
    noting(recordsStep(work)),
  ]
  tell('It resets what was written since the takeover:')
  for (const step of resetting) tell(`  ${step.title}; ${(await step.missing())?.text ?? 'nothing is left'}`)
  const isPredecessorBack = async () => !(await readWorkloads(client, found.workloads)).every(isStopped)
  const stopOurs = stopStep(client, {
    title: 'Stop eip-admission in the cluster',
    workloads: () => ownWorkloads(client, namespace),
  })
  await run.carryOut(
    [
      webhooksStep(work),
      stopOurs,
      holdStep(client, lead, isPredecessorBack),
      ...resetting,
      returnStep(client, found, lead.release),
    ],
    found,
  )
  return found.left
}

/**
 * Notes the reservations that no program will look after, and returns whether there are new ones. The first look sees
 * the most, because later ones may miss what is already removed.
 */
function noteLeft(left: LeftReservation[], seen: readonly LeftReservation[]): boolean {
  const added = seen.filter(({ id }) => !left.some((one) => one.id === id))
  left.push(...added)
  return added.length > 0
}

/**
 * The reservations that no live Service holds: those of records in any phase, and those without a record from the last
 * sweep.
 */
async function leftReservations({ client, found }: UndoWork, namespace: string): Promise<LeftReservation[]> {
  const [{ all, records }, map] = await Promise.all([
    readServices(client),
    client.get(configMaps, { namespace, name: names.ledgerConfigMap }),
  ])
  const byKey = new Map(all.map((one) => [keyOf(one.service), one]))
  const finalizers = newFinalizers(found)
  const held = records.flatMap((record) => {
    const id = reservationIdOf(record)
    const reason = leavingReason(record, byKey.get(claimKey(record) ?? ''), finalizers)
    return id === undefined || reason === undefined ? [] : [{ id, address: record.status?.address, reason }]
  })
  const ids = new Set(records.map(reservationIdOf))
  const reason = 'the last sweep found no Service for it, and may have deleted it since'
  const orphans = listedOrphans(map).filter(({ id }) => !ids.has(id))
  return [...held, ...orphans.map((one) => ({ ...one, reason }))]
}

/** Why the reservation of a record is left behind; undefined if the predecessor or a live Service has it. */
function leavingReason(
  record: ElasticIP,
  seen: SharedService | undefined,
  finalizers: readonly string[],
): string | undefined {
  const key = claimKey(record)
  const phase = phaseOf(record)
  if (seen && seen.sharers.length > 0)
    return `Service ${key} is being deleted, and Service ${seen.sharers.join(', ')} shows its address: keep it`
  if (seen && leavesReservation(seen.service, finalizers)) return `Service ${key} is being deleted`
  if (seen && !['Released', 'Available', 'Releasing'].includes(phase)) return undefined
  if (phase === 'Bound' && key !== undefined) return `Service ${key} does not exist any more`
  const deletion = ', and its deletion was requested: the provider may not have it any more'
  return `ElasticIP ${record.metadata.name} was ${phase}${record.status?.deletionRequestedAt === undefined ? '' : deletion}`
}
