import { stringify } from 'yaml'
import type { ElasticIP } from '../ledger/record/elastic-ip.ts'
import { escapeMisleading } from '../lib/text.ts'
import { setTimeout as sleep } from 'node:timers/promises'

/** What the plugin needs of the terminal. */
export type Io = {
  print: (text: string) => void
  printError: (text: string) => void
  /** Asks a person, and returns the answer; undefined where nobody can be asked. */
  ask: ((question: string) => Promise<string>) | undefined
}

/** The result of a command, for scripts. An error and a refusal exit with 1. */
export const exitCodes = { done: 0, problem: 2, notFound: 3 } as const

/** A refusal that a person can act on; its message is all that is printed. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}

export const outputFormats = ['json', 'yaml', 'name'] as const

export type OutputFormat = (typeof outputFormats)[number]

/** The result of a command, for a script; as `name`, the ElasticIPs that it is about. */
export function formatData(data: object, format: OutputFormat, records: readonly ElasticIP[]): string {
  if (format === 'name') return records.map(({ metadata }) => `elasticip.eip-admission.dev/${metadata.name}\n`).join('')
  const text = format === 'json' ? `${JSON.stringify(data, null, 2)}\n` : stringify(data, { lineWidth: 0 })
  return escapeMisleading(text)
}

const periodMs = 300

/** Looks until something is settled, or the time is over; returns what was seen last. */
export async function untilSettled<T>(waitMs: number, look: () => Promise<{ now: T; isSettled: boolean }>): Promise<T> {
  const endsAt = performance.now() + waitMs
  for (;;) {
    const { now, isSettled } = await look()
    if (isSettled || performance.now() >= endsAt) return now
    await sleep(periodMs)
  }
}
