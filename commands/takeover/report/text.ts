import { escapeMisleading, plainText } from '../../../lib/text.ts'
import type { Finding } from '../plan/plan.ts'
import { type Remedy, remedyText } from '../../../lib/remedy.ts'

/** A part of a report; empty if it has no lines. */
export function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`
}

/** Lines of columns, each as wide as its widest text. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map(plainText))
  const columns = Math.max(0, ...cells.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, n) => Math.max(...cells.map((row) => row[n]?.length ?? 0)))
  return cells.map((row) =>
    row
      .map((text, n) => text.padEnd(widths[n] ?? 0))
      .join('   ')
      .trimEnd(),
  )
}

/** A line that keeps its indentation, for example in YAML, and is otherwise plain text. */
export function plainLine(text: string): string {
  const [margin = ''] = /^ */.exec(text) ?? []
  return `${margin}${plainText(text)}`
}

/** The findings, each with its remedy. */
export function findings(title: string, all: readonly Finding[]): string {
  const lines = all.flatMap(({ where, what, remedy }) => [
    `${plainText(where)}: ${plainText(what)}`,
    `  do: ${plainText(codeText(remedy))}`,
  ])
  return section(`${title} (${all.length})`, lines)
}

/** A remedy with its command as a code span, which gets its flags with the whole report. */
function codeText(remedy: Remedy): string {
  if (typeof remedy === 'string') return remedy
  const { command, text } = remedy
  return `\`${command}\`${text === undefined ? '' : `: ${text}`}`
}

/** A report for programs, in which each remedy is a text. */
export function asJson(value: object): string {
  const texts = (key: string, of: unknown) => (key === 'remedy' ? remedyText(of as Remedy) : of)
  return `${escapeMisleading(JSON.stringify(value, texts, 2))}\n`
}
