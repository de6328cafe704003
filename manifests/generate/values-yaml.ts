import { stringify } from 'yaml'
import { isMap } from '../choices.ts'
import { defaultValues, valueRows } from './chart-values.ts'
import type { ValueRow } from './value-row.ts'

const head = '# The values of the chart, with their defaults. README.md has them as a table.\n'

/** values.yaml: each value with its sentence above it. */
export function valuesYaml(): string {
  return `${head}${lines(defaultValues(), '').join('\n')}\n`
}

function lines(tree: object, prefix: string): string[] {
  return Object.entries(tree).flatMap(([name, value]: [string, unknown]) => {
    const path = `${prefix}${name}`
    const indent = ' '.repeat(2 * (path.split('.').length - 1))
    const row = valueRows.find((candidate) => candidate.path === path)
    if (row) return ['', ...comment(row), ...entry(name, value)].map((line) => (line === '' ? '' : indent + line))
    if (!isMap(value)) throw new Error(`${path} is not a value of the chart`)
    return ['', `${indent}${name}:`, ...lines(value, `${path}.`).slice(1)]
  })
}

function entry(name: string, value: unknown): string[] {
  return stringify({ [name]: value }, { lineWidth: 0 })
    .trimEnd()
    .split('\n')
}

/** The sentence in lines of at most about 100 characters. */
function comment({ sentence }: ValueRow): string[] {
  const wrapped: string[] = ['']
  for (const word of sentence.split(' ')) {
    const last = wrapped.at(-1) ?? ''
    if (last.length + word.length < 100) wrapped[wrapped.length - 1] = `${last} ${word}`
    else wrapped.push(` ${word}`)
  }
  return wrapped.map((line) => `#${line}`)
}
