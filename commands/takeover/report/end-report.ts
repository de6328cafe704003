import { plainText } from '../../../lib/plain-text.ts'
import type { Format } from '../../doctor/report.ts'
import type { End } from '../end.ts'
import { asJson, findings } from './text.ts'

export type Ending = { command: 'plan' | 'apply' | 'undo'; output: Format }

type Printers = Record<'print' | 'printError', (text: string) => void>

/** Prints how a command ended that did not do everything, and returns the exit code. */
export function reportEnd(end: End, { command, output }: Ending, { print, printError }: Printers): 0 | 1 {
  const { state, message, blockers } = end
  const code = state === 'nothing' ? 0 : 1
  if (output === 'json') print(asJson({ formatVersion: 1, state, message, blockers }))
  else if (code === 0) print(`${plainText(message)}\n`)
  else printError(textOf(end, `eip-admission takeover ${command}`))
  return code
}

function textOf({ state, message, blockers }: End, command: string): string {
  const error = `eip-admission: ${message}\n`
  const back = command.endsWith('apply') ? ', or `eip-admission takeover undo` to go back' : ''
  const onward = `Run \`${command}\` again to continue${back}.\n`
  return {
    nothing: error,
    blocked: `Nothing was changed: ${plainText(message)}.\n\n${findings('In the way', blockers)}\n`,
    refused: error,
    stopped: `Stopped. What is done stays done. ${onward}`,
    unfinished: `${error}${onward}`,
    failed: `${error}No step was begun. Run \`${command}\` again.\n`,
  }[state]
}
