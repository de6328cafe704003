import { stringify } from 'yaml'
import type { ElasticIP } from '../ledger/record/elastic-ip.ts'
import { escapeMisleading, plainText } from '../lib/text.ts'
import { setTimeout as sleep } from 'node:timers/promises'

/** The parts of the terminal that the plugin needs. */
export type Io = {
  print: (text: string) => void
  printError: (text: string) => void
  /** Asks a person, and returns the answer; undefined if there is nobody to ask. */
  ask: ((question: string) => Promise<string>) | undefined
}

/** The result of a command, for scripts. An error and a refusal exit with 1. */
export const exitCodes = { done: 0, problem: 2, notFound: 3 } as const

/** A refusal that a person can act on; only its message is printed. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}

export const outputFormats = ['json', 'yaml', 'name'] as const

export type OutputFormat = (typeof outputFormats)[number]

/** The result of a command for scripts; in the format `name`, the ElasticIPs that it is about. */
export function formatData(data: object, format: OutputFormat, records: readonly ElasticIP[]): string {
  if (format === 'name') return records.map(({ metadata }) => `elasticip.eip-admission.dev/${metadata.name}\n`).join('')
  const text = format === 'json' ? `${JSON.stringify(data, null, 2)}\n` : stringify(data, { lineWidth: 0 })
  return escapeMisleading(text)
}

const periodMs = 300

/** Looks until the state is settled or the time is over; returns the last state. */
export async function untilSettled<T>(waitMs: number, look: () => Promise<{ now: T; isSettled: boolean }>): Promise<T> {
  const endsAt = performance.now() + waitMs
  for (;;) {
    const { now, isSettled } = await look()
    if (isSettled || performance.now() >= endsAt) return now
    await sleep(periodMs)
  }
}

/** Rows with headings, in columns two spaces apart, as kubectl prints them. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows].map((cells) => cells.map(plainText))
  const widths = headings.map((_, column) => Math.max(...lines.map((cells) => widthOf(cells[column] ?? ''))))
  return lines
    .map((cells) =>
      cells.map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell)))).join('  '),
    )
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

/** Formats facts, each as a name and its text. */
export function formatFacts(facts: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...facts.map(([name]) => name.length))
  return facts.map(([name, text]) => `  ${name.padEnd(width)}  ${plainText(text)}\n`).join('')
}

/** An age as kubectl writes it, with at most two units. */
export function formatAge(since: string | undefined, now: Date): string {
  const ms = now.getTime() - Date.parse(since ?? '')
  if (Number.isNaN(ms)) return ''
  const s = Math.max(0, Math.floor(ms / 1000))
  const [m, h, d] = [60, 3600, 86_400].map((unit) => Math.floor(s / unit)) as [number, number, number]
  if (s < 120) return `${s}s`
  if (m < 10) return s % 60 === 0 ? `${m}m` : `${m}m${s % 60}s`
  if (h < 3) return `${m}m`
  if (h < 48) return m % 60 > 0 && h < 8 ? `${h}h${m % 60}m` : `${h}h`
  return `${d}d`
}

/** Counts characters, not code units, because names may contain any. */
function widthOf(text: string): number {
  return Array.from(text).length
}
