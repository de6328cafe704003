import { stringify } from 'yaml'
import { isMap } from '../choices.ts'
import { Conditional, Reference } from './helm-choices.ts'

/** The template of an object: YAML, with a Helm action for each open choice. */
export function templateOf(object: unknown): string {
  return `${linesOf(object, 0).join('\n')}\n`
}

/** The lines of a map or a list at an indentation. */
function linesOf(value: unknown, indent: number): string[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown) => itemLines(item, indent))
  if (isMap(value)) return Object.entries(value).flatMap(([name, entry]) => entryLines(name, entry, indent))
  throw new Error(`a template cannot begin with ${String(value)}`)
}

function entryLines(name: string, value: unknown, indent: number): string[] {
  const start = `${' '.repeat(indent)}${scalar(name)}:`
  if (value === undefined) return []
  if (value instanceof Conditional) return between(`if ${value.test}`, entryLines(name, value.value, indent))
  if (value instanceof Reference) {
    if (value.kind === 'entries') return between(`with ${value.expression}`, block(indent))
    if (value.kind === 'scalar') return [`${start} {{ ${value.expression} }}`]
    return between(`with ${value.expression}`, [start, ...block(indent + 2)])
  }
  if (!isNested(value)) return [`${start} ${scalar(value)}`]
  return [start, ...linesOf(value, indent + (Array.isArray(value) ? 0 : 2))]
}

function itemLines(value: unknown, indent: number): string[] {
  const start = `${' '.repeat(indent)}-`
  if (value === undefined) return []
  if (value instanceof Conditional) return between(`if ${value.test}`, itemLines(value.value, indent))
  if (value instanceof Reference) return referenceItems(value, indent)
  if (!isNested(value)) return [`${start} ${scalar(value)}`]
  const [first = '', ...others] = linesOf(value, indent + 2)
  // An action on the first line would trim the dash.
  return first.startsWith('{{') ? [start, first, ...others] : [`${start} ${first.slice(indent + 2)}`, ...others]
}

function referenceItems({ kind, expression }: Reference, indent: number): string[] {
  if (kind === 'items') return between(`with ${expression}`, block(indent))
  if (kind !== 'flags') throw new Error(`a list cannot hold the ${kind} ${expression}`)
  const flag = '{{ include `eip-admission.flag` (list $name $value) | quote }}'
  return between(`range $name, $value := ${expression}`, [`${' '.repeat(indent)}- ${flag}`])
}

function between(action: string, lines: string[]): string[] {
  return [`{{- ${action} }}`, ...lines, '{{- end }}']
}

/** The value at hand as YAML at an indentation; `nindent` begins with a line break, so the action trims the one before. */
function block(indent: number): string[] {
  return [`{{- toYaml . | nindent ${indent} }}`]
}

function isNested(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isMap(value) && Object.keys(value).length > 0
}

/** A line of YAML: long texts are not folded, and ambiguous ones are quoted. */
function scalar(value: unknown): string {
  // A value that Helm fills in may need quotes.
  if (typeof value === 'string' && value.includes('{{')) return JSON.stringify(value)
  return stringify(value, { lineWidth: 0, blockQuote: false }).trimEnd()
}
