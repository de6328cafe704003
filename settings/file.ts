import { fileFault, readSmallFile } from '../lib/small-file.ts'
import type { Problem } from './problems.ts'

/** A configuration file: its fields, or the problems that kept us from reading it. It may contain secrets: never quote it. */
export type SettingsFile = { path: string; fields: Readonly<Record<string, unknown>>; problems: Problem[] }

/** Reads a provider's configuration file, which contains a JSON object. */
export function readSettingsFile(path: string): SettingsFile {
  try {
    return parseSettingsFile(path, readSmallFile(path))
  } catch (error) {
    return unreadableFile(path, reasonOf(error))
  }
}

/** The configuration file with this text. Messages name it by `path`. */
export function parseSettingsFile(path: string, text: string): SettingsFile {
  try {
    const content: unknown = JSON.parse(text)
    if (isObject(content)) return { path, fields: content, problems: [] }
    return unreadableFile(path, `holds ${kindOf(content)}, not an object`)
  } catch (error) {
    return unreadableFile(path, reasonOf(error))
  }
}

/** The values of a field in all its spellings, the strongest first: as in Go's JSON reader, the last one wins. */
export function fieldValues(fields: SettingsFile['fields'], field: string): { name: string; value: unknown }[] {
  const spellings = Object.entries(fields).filter(([name]) => name.toLowerCase() === field.toLowerCase())
  return spellings.reverse().map(([name, value]) => ({ name, value }))
}

function unreadableFile(path: string, wrong: string): SettingsFile {
  const right = 'it must be a readable file with one JSON object, such as {"projectID": "..."}'
  return { path, fields: {}, problems: [{ setting: 'configuration file', source: path, wrong, right }] }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof SyntaxError)) {
    return fileFault(error)
  }
  // The error message quotes the text around the mistake, which may be a secret.
  const [at] = /line \d+ column \d+(?=\)?$)/.exec(error.message) ?? []
  return at === undefined ? 'is not JSON' : `is not JSON (${at})`
}

function isObject(content: unknown): content is Record<string, unknown> {
  return typeof content === 'object' && content !== null && !Array.isArray(content)
}

/** The kind of a value, for messages that must not quote the value itself. */
export function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (value === null) return 'null'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
