import { plainText } from '../lib/text.ts'

/** Rows with a heading, in columns two blanks apart, as kubectl prints them. An empty cell shows nothing. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows].map((cells) => cells.map(plainText))
  const widths = headings.map((_, column) => Math.max(...lines.map((cells) => widthOf(cells[column] ?? ''))))
  return lines
    .map((cells) => cells.map((cell, column) => pad(cell, widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

/** Texts beside their names. */
export function formatFacts(facts: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...facts.map(([name]) => name.length))
  return facts.map(([name, text]) => `  ${name.padEnd(width)}  ${plainText(text)}\n`).join('')
}

/** An age as kubectl writes it: two units at most. */
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

/** Characters, not code units: names may hold any. */
function widthOf(text: string): number {
  return Array.from(text).length
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}
