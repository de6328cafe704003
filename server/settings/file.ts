import { readFileSync } from 'node:fs'
import { fileFault } from '../file-fault.ts'
import type { Problem } from './problems.ts'

/** A configuration file: its fields, or why there are none. Its content may hold secrets and is quoted nowhere. */
export type SettingsFile = { path: string; fields: Readonly<Record<string, unknown>>; problems: Problem[] }

/** Reads the JSON object that a cloud configuration file holds. */
export function readSettingsFile(path: string): SettingsFile {
  try {
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (isObject(content)) return { path, fields: content, problems: [] }
    return without(path, `holds ${kindOf(content)}, not an object`)
  } catch (error) {
    return without(path, reasonOf(error))
  }
}

function without(path: string, wrong: string): SettingsFile {
  const right = 'it must be a readable file with one JSON object, such as {"projectID": "..."}'
  return { path, fields: {}, problems: [{ setting: 'configuration file', source: path, wrong, right }] }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof SyntaxError)) {
    return fileFault(error)
  }
  // The message itself quotes the text around the mistake, which may be a secret.
  const [at] = /line \d+ column \d+(?=\)?$)/.exec(error.message) ?? []
  return at === undefined ? 'is not JSON' : `is not JSON (${at})`
}

function isObject(content: unknown): content is Record<string, unknown> {
  return typeof content === 'object' && content !== null && !Array.isArray(content)
}

/** A value's kind, for a person who must not see the value. */
export function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (value === null) return 'null'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
