import type { Clock } from '../../kube/clock.ts'
import type { Occurrence } from '../../kube/events.ts'
import type { Log } from '../../kube/log.ts'
import { formatDuration } from '../../lib/duration.ts'
import type { TriedMove } from '../moves/mover.ts'

/** The subject of an Event: a node, or the mirror Service. */
export type Subject = { node: string } | 'mirror-service'

export type MoveOccurrence = Occurrence<
  'ControlPlaneAddressMoved' | 'ControlPlaneAddressAnswers' | 'ControlPlaneAddressSilent'
>

export type MoveReportOptions = {
  /** The name of a machine's node, if it has one. */
  nodeOf: (machine: string) => string | undefined
  /** Whether the address itself answers now; undefined if this machine cannot tell. */
  isAnswering: () => Promise<boolean> | undefined
  /** When the last good answer of the previous holder arrived. */
  answeredAtMs: (machine: string) => number | undefined
  event: (subject: Subject, occurrence: MoveOccurrence) => void
  onAnswer: (outageMs: number) => void
  clock: Clock
  log: Log
}

const lookEveryMs = 250
const patienceMs = 15_000

/** Tells about a move that the cloud has shown: at once, and again when the address answers, or does not. */
export async function reportMove(move: TriedMove, options: MoveReportOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, event, nodeOf } = options
  const { address, machines } = move.from
  const tookMs = Math.round(clock.now() - move.beganAtMs)
  const formerNames = machines.map((machine) => nodeOf(machine) ?? `machine ${machine}`).join(', ') || 'no machine'
  log.info(
    { address, from: formerNames, to: move.to.name, reason: move.reason, why: move.why, tookMs },
    'control-plane address moved',
  )
  const subjects: Subject[] = ['mirror-service', { node: move.to.name }]
  for (const machine of machines) {
    const node = nodeOf(machine)
    if (node !== undefined && node !== move.to.name) subjects.push({ node })
  }
  const report = (occurrence: MoveOccurrence) => subjects.forEach((subject) => event(subject, occurrence))
  const text = `The control-plane address ${address} moved from ${formerNames} to ${move.to.name}: ${move.why}.`
  report({ type: move.reason === 'leaving' ? 'Normal' : 'Warning', reason: 'ControlPlaneAddressMoved', message: text })
  const lastAnswers = machines.flatMap((machine) => options.answeredAtMs(machine) ?? [])
  await tellAnswer({ address, name: move.to.name, lastAnswerMs: Math.max(...lastAnswers), report }, options, signal)
}

type Moved = { address: string; name: string; lastAnswerMs: number; report: (occurrence: MoveOccurrence) => void }

async function tellAnswer(moved: Moved, options: MoveReportOptions, signal: AbortSignal): Promise<void> {
  const { address, name, lastAnswerMs, report } = moved
  const { clock, log, onAnswer } = options
  const isAnswered = await awaitAnswer(options, signal)
  if (isAnswered === undefined) return
  if (isAnswered) {
    const outageMs = Number.isFinite(lastAnswerMs) ? Math.round(clock.now() - lastAnswerMs) : 0
    onAnswer(outageMs)
    log.info({ address, holder: name, outageMs }, 'control-plane address answers')
    const message = `The control-plane address ${address} answers on ${name}, ${formatDuration(outageMs)} after the last good answer before the move.`
    return report({ type: 'Normal', reason: 'ControlPlaneAddressAnswers', message })
  }
  log.warn({ address, holder: name }, 'control-plane address does not answer after its move')
  const message = `The control-plane address ${address} is assigned to ${name} but does not answer from here. Check that a network interface of that machine has it, and that all API servers are good.`
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
