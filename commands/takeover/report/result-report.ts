import { counted, plainText } from '../../../lib/text.ts'
import type { Format } from '../../doctor/report.ts'
import type { ApplyResult } from '../apply/apply.ts'
import type { AnnouncingNodes } from '../found.ts'
import type { UndoResult } from '../undo/undo.ts'
import { asJson, findings } from './text.ts'
import { type End, endOf } from '../end.ts'

/** The report of `takeover apply`. */
export function applyReport({ plan, services, gone, announcing }: ApplyResult, format: Format): string {
  const { id, title } = plan.predecessor
  if (format === 'json') return asJson({ state: 'applied', predecessor: id, services, gone, announcing })
  const removed = gone > 0 ? `; deleted, or no longer of type LoadBalancer: ${gone}` : ''
  return [
    `Taken over: ${counted(services, 'Services')}${removed}. eip-admission leads; ${title} is stopped.`,
    ...(plan.announcer.name === 'metallb' ? [announcingText(announcing)] : []),
    'Nothing was reserved or deleted at the provider. To go back, run `eip-admission takeover undo`.',
    '',
  ].join('\n')
}

/** The verified routes, and those that a person must check. */
function announcingText(announcing: AnnouncingNodes | undefined): string {
  if (!announcing)
    return 'Routes were not verified: this cluster has no ServiceBGPStatus, which MetalLB provides from 0.15 on. Check from outside the cluster that an address answers.'
  const announced = counted(Object.keys(announcing).length, 'Services')
  return `MetalLB announces ${announced}, according to its ServiceBGPStatus objects; every Service that was announced before still is.`
}

/** The report of `takeover undo`. */
export function undoReport({ title, reservations }: UndoResult, format: Format): string {
  if (format === 'json') return asJson({ state: 'undone', reservations })
  const left = reservations.map(
    ({ id, address, reason }) => `  ${address ?? 'no address yet'}  ${id}  ${plainText(reason)}`,
  )
  const heading =
    'These reservations remain at the provider, and no program will delete them. Delete those that you do not need:'
  return [
    ...(left.length > 0 ? [heading, ...left] : []),
    `${title} runs again. Nothing was reserved or deleted at the provider.`,
    'A Service that was deleted since the last sweep may have left a reservation that only its tags identify: check the list at the provider.',
    'What `install` applied remains, without effect; the chart can be uninstalled.',
    '',
  ].join('\n')
}

/** Where a command prints its report, and where it prints an error. */
export type Printers = Record<'print' | 'printError', (text: string) => void>

type Command = { command: 'plan' | 'apply' | 'undo'; output: Format }

/** Runs a command, which returns the exit code. If it ends before it is complete, prints why, and returns 1. */
export async function reported(
  { command, output }: Command,
  { print, printError }: Printers,
  run: () => Promise<number>,
): Promise<number> {
  try {
    return await run()
  } catch (error) {
    const end = endOf(error, 'failed')
    const { state, message, blockers } = end
    if (output === 'json') print(asJson({ formatVersion: 1, state, message, blockers }))
    // For a plan, blockers are its report and no error.
    else (command === 'plan' && state === 'blocked' ? print : printError)(textOf(end, command))
    return 1
  }
}

function textOf({ state, message, blockers }: End, command: Command['command']): string {
  const error = `eip-admission: ${message}\n`
  const back = command === 'apply' ? ', or `eip-admission takeover undo` to go back' : ''
  const again = `Run \`eip-admission takeover ${command}\` again`
  const onward = `${again} to continue${back}.\n`
  return {
    blocked: `Nothing was changed: ${plainText(message)}.\n\n${findings('Blockers', blockers)}\n`,
    refused: error,
    stopped: `Stopped. Completed steps are kept. ${onward}`,
    unfinished: `${error}${onward}`,
    failed: `${error}${command === 'plan' ? 'Nothing was changed' : 'No step was started'}. ${again}.\n`,
  }[state]
}
