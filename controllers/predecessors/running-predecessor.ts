import { isForbidden } from '../../kube/errors.ts'
import { keyOf } from '../../kube/objects.ts'
import { type Workload, containersIn, isRunning, listWorkloads } from '../../kube/workloads.ts'
import type { Dependencies } from '../dependencies.ts'
import { type ControllerDeclaration, periodicWork } from '../loop/controller.ts'
import { overlapRemedy, overlapWith, servedBy } from './other-cloud-controller.ts'

/** A predecessor that is started again is seen within a minute. */
const everyMs = 60_000

type Deps = Pick<Dependencies, 'client' | 'events' | 'log' | 'metrics' | 'settings'>

/** The program that we replace and that a workload runs. */
export type ReplacedProgram = (workload: Workload) => { title: string } | undefined

/** Warns as long as a program that we replace has pods beside the leader: both would write the same objects. */
export function runningPredecessorController(
  { client, events, log, metrics, settings }: Deps,
  { isLeader, replacedProgram }: { isLeader: () => boolean; replacedProgram: ReplacedProgram },
): ControllerDeclaration {
  const served = servedBy(settings)
  let running: number | undefined
  metrics.read('eip_admission_running_predecessors', () => (isLeader() ? running : undefined))
  const texts = { PredecessorRuns: 'a replaced program runs', OtherCloudController: 'another cloud controller runs' }
  const warn = (workload: Workload, reason: keyof typeof texts, message: string) => {
    log.warn({ workload: `${workload.kind} ${keyOf(workload)}`, warning: message }, texts[reason])
    events.of('service-controller').record(workload, { type: 'Warning', reason, message })
  }
  const run = async (signal: AbortSignal) => {
    const workloads = await listWorkloads(client, { signal })
    const found = workloads.flatMap((workload) => predecessorIn(workload, replacedProgram))
    running = found.length
    for (const { workload, title } of found) {
      const message = `${title} is running alongside eip-admission, and both write the same Services: stop it, and whatever starts it again`
      warn(workload, 'PredecessorRuns', message)
    }
    for (const workload of workloads.filter(isRunning)) {
      const overlap = overlapWith(containersIn(workload), served)
      if (!overlap || overlap.both.length === 0) continue
      const message = `${overlap.image} and eip-admission both write ${overlap.both.join(' and ')}: ${overlapRemedy(overlap)}`
      warn(workload, 'OtherCloudController', message)
    }
    return undefined
  }
  const unlessForbidden = (signal: AbortSignal) =>
    run(signal).catch((error: unknown) => {
      // An older installation has no such right. The leader then works without the warning.
      if (!isForbidden(error)) throw error
      running = undefined
      return undefined
    })
  return periodicWork({ name: 'running-predecessor', run: unlessForbidden, everyMs })
}

/** The replaced program of a workload that has pods, or should have some. Pure. */
export function predecessorIn(
  workload: Workload,
  replacedProgram: ReplacedProgram,
): { workload: Workload; title: string }[] {
  const program = replacedProgram(workload)
  return program && isRunning(workload) ? [{ workload, title: program.title }] : []
}
