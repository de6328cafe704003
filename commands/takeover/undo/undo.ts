import { type LeftReservation, predecessorNamed } from '../found.ts'
import { holdStep, isForeign } from '../lead-lease.ts'
import { type Progress, readProgress } from '../progress.ts'
import { managerFinding } from '../plan/workload-managers.ts'
import { End, endIfBlocked } from '../end.ts'
import { isAdministrator, rightsFinding } from '../rights.ts'
import { type Run, lockedRun } from '../run.ts'
import type { RunDeps } from '../steps.ts'
import { isStopped, ownWorkloads, readWorkloads, stopStep } from '../workloads.ts'
import { documentStep } from './document-step.ts'
import { metallbStep } from './metallb-step.ts'
import { noteStep, recordsStep, returnStep, servicesStep, webhooksStep } from './undo-steps.ts'

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
  const ofRights = rightsFinding(await isAdministrator(client))
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

async function carryOut(deps: UndoDeps, run: Run): Promise<LeftReservation[]> {
  const { client, namespace, tell } = deps
  const { lead, check } = run
  const before = recorded(run.before, namespace).found
  const left = [...(before.left ?? [])]
  const found = { ...before, left }
  const work = { ...deps, found, check }
  const returning = [metallbStep(work), ...(found.document ? [documentStep(work)] : []), servicesStep(work)]
  const records = recordsStep(work)
  tell('It reverts what was written since the takeover:')
  for (const step of [...returning, records])
    tell(`  ${step.title}; ${(await step.missing())?.text ?? 'nothing is left'}`)
  // A predecessor that is back and leads keeps the lease, which also keeps ours from acting.
  const mayStay = async (holder: string) =>
    isForeign(holder) && !(await readWorkloads(client, found.workloads)).every(isStopped)
  const stopOurs = stopStep(client, {
    title: 'Stop eip-admission in the cluster',
    workloads: () => ownWorkloads(client, namespace),
  })
  await run.carryOut(
    [
      webhooksStep(work),
      stopOurs,
      holdStep(client, lead, { mayStay }),
      ...returning,
      noteStep(work, namespace, left),
      records,
      returnStep(client, found, lead.release),
    ],
    found,
  )
  return left
}
