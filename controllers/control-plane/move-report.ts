import type { Clock } from '../../kube/clock.ts'
import type { Occurrence } from '../../kube/events.ts'
import type { Log } from '../../kube/log.ts'
import { formatDuration } from '../../lib/duration.ts'
import type { Metrics } from '../../telemetry/metrics/metrics.ts'
import type { TriedMove } from '../moves/mover.ts'
import type { GuardedNode } from './control-plane-nodes.ts'

/** The subject of an Event: a node, or the mirror Service. */
export type Subject = { node: string } | 'mirror-service'

export type MoveOccurrence = Occurrence<
  'ControlPlaneAddressMoved' | 'ControlPlaneAddressAnswers' | 'ControlPlaneAddressSilent'
>

export type MoveReportOptions = {
  /** The node of a machine, if it has one. */
  nodeWith: (machine: string) => GuardedNode | undefined
  /** Whether the address itself answers now; undefined if this machine cannot tell. */
  isAnswering: () => Promise<boolean> | undefined
  event: (subject: Subject, occurrence: MoveOccurrence) => void
  metrics: Metrics
  clock: Clock
  log: Log
}

const lookEveryMs = 250
const patienceMs = 15_000

/** Reports a move that the provider has shown: immediately, and again when the address answers or fails to answer. */
export async function reportMove(move: TriedMove, options: MoveReportOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, event, nodeWith } = options
  const { address, machines } = move.from
  const tookMs = Math.round(clock.now() - move.beganAtMs)
  const formerNames =
    machines.map((machine) => nodeWith(machine)?.name ?? `machine ${machine}`).join(', ') || 'no machine'
  log.info(
    { address, from: formerNames, to: move.to.name, reason: move.reason, why: move.why, tookMs },
    'control-plane address moved',
  )
  const former = machines.flatMap((machine) => nodeWith(machine) ?? [])
  const names = new Set([move.to.name, ...former.map(({ name }) => name)])
  const subjects: Subject[] = ['mirror-service', ...[...names].map((node) => ({ node }))]
  const report = (occurrence: MoveOccurrence) => subjects.forEach((subject) => event(subject, occurrence))
  const text = `The control-plane address ${address} moved from ${formerNames} to ${move.to.name}: ${move.why}.`
  report({ type: move.reason === 'leaving' ? 'Normal' : 'Warning', reason: 'ControlPlaneAddressMoved', message: text })
  const lastAnswers = former.flatMap(({ probes }) => probes.answeredAtMs ?? [])
  await reportAnswer({ address, name: move.to.name, lastAnswerMs: Math.max(...lastAnswers), report }, options, signal)
}

type Moved = { address: string; name: string; lastAnswerMs: number; report: (occurrence: MoveOccurrence) => void }

async function reportAnswer(moved: Moved, options: MoveReportOptions, signal: AbortSignal): Promise<void> {
  const { address, name, lastAnswerMs, report } = moved
  const { clock, log, metrics } = options
  const isAnswered = await awaitAnswer(options, signal)
  if (isAnswered === undefined) return
  if (isAnswered) {
    const outageMs = Number.isFinite(lastAnswerMs) ? Math.round(clock.now() - lastAnswerMs) : 0
    metrics.add('eip_admission_control_plane_outage_seconds_total', {}, outageMs / 1000)
    log.info({ address, holder: name, outageMs }, 'control-plane address answers')
    const message = `The control-plane address ${address} answers on ${name}, ${formatDuration(outageMs)} after the last healthy answer before the move.`
    return report({ type: 'Normal', reason: 'ControlPlaneAddressAnswers', message })
  }
  log.warn({ address, holder: name }, 'control-plane address does not answer after its move')
  const message = `The control-plane address ${address} is assigned to ${name} but does not answer from here. Check that a network interface of that machine has it, and that all API servers are healthy.`
  report({ type: 'Warning', reason: 'ControlPlaneAddressSilent', message })
}

/** Whether the address answers in time; undefined if this machine cannot tell. */
async function awaitAnswer(options: MoveReportOptions, signal: AbortSignal): Promise<boolean | undefined> {
  const { clock, isAnswering } = options
  const endMs = clock.now() + patienceMs
  while (clock.now() < endMs) {
    const answer = isAnswering()
    if (answer === undefined) return undefined
    if (await answer) return true
    await clock.sleep(lookEveryMs, signal)
    if (signal.aborted) return undefined
  }
  return false
}
