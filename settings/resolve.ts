import { fieldValues, kindOf, type SettingsFile } from './file.ts'
import { SettingsError, type Problem } from './problems.ts'
import {
  type Format,
  type Reading,
  type Setting,
  type SettingsTable,
  type ValuesOf,
  placesText,
  titleOf,
} from './setting.ts'
import { closestWord } from '../lib/text.ts'

/** The sources of values: flags by name with both dashes, the environment, and the configuration file, if any. */
export type Sources = {
  flags: Readonly<Record<string, string>>
  env: Readonly<Record<string, string | undefined>>
  file?: SettingsFile | undefined
}

/** Typed values, or all problems that prevent them. */
export type Resolution<Values> = { values: Values | undefined; problems: Problem[]; warnings: string[] }

/** The typed values of a table and the warnings about them; throws a SettingsError with all problems. */
export function resolveSettings<Table extends SettingsTable>(
  table: Table,
  sources: Sources,
): { values: ValuesOf<Table>; warnings: string[] } {
  const { values, problems, warnings } = readSettings(table, sources)
  if (!values) throw new SettingsError(problems)
  return { values, warnings }
}

/** Like resolveSettings, but returns the problems, so that a caller can report several tables together. */
export function readSettings<Table extends SettingsTable>(table: Table, sources: Sources): Resolution<ValuesOf<Table>> {
  const readings = Object.entries(table).map(([name, setting]) => ({ name, ...readSetting(setting, sources) }))
  const problems = [...(sources.file?.problems ?? []), ...readings.flatMap(({ problem }) => problem ?? [])]
  const warnings = [...aliasWarnings(table, sources), ...fieldWarnings(table, sources.file)]
  if (problems.length > 0) return { values: undefined, problems, warnings }
  // Each row of the table has just produced the value of its type.
  const values = Object.fromEntries(readings.map(({ name, value }) => [name, value])) as ValuesOf<Table>
  return { values, problems, warnings }
}

type Outcome = { value?: unknown; problem?: Problem }

function readSetting(setting: Setting<unknown>, sources: Sources): Outcome {
  const { format } = setting
  const found = valuesIn(setting, sources).find(
    ({ text }) => text === undefined || (text !== '' && text !== format.unset),
  )
  // The setting may be in the unreadable file, whose problem is reported already.
  if (!found) return setting.field !== undefined && sources.file?.problems.length ? {} : readAbsent(setting)
  const { source, text } = found
  const reading: Reading<unknown> =
    text === undefined ? { right: 'a string, a number, true or false' } : format.read(text)
  if ('value' in reading) return reading
  return {
    problem: {
      setting: titleOf(setting),
      source,
      wrong: describeWrongValue(found, format),
      right: `it must be ${reading.right}`,
    },
  }
}

function readAbsent(setting: Setting<unknown>): Outcome {
  if ('unset' in setting) return {}
  if ('required' in setting) {
    return { problem: { setting: titleOf(setting), wrong: 'not set', right: `set ${placesText(setting)}` } }
  }
  const reading = setting.format.read(setting.default)
  if ('value' in reading) return reading
  throw new Error(`the default of ${titleOf(setting)} must be ${reading.right}`)
}

/** A value from one source. Only a file can contain anything but text; then `kind` says what. */
type Given = { source: string; text: string | undefined; kind: string }

/** The values of a setting in all its sources, the strongest source first. */
function valuesIn({ flag, aliases = [], env, otherEnv = [], field }: Setting<unknown>, sources: Sources): Given[] {
  const { flags, env: environment, file } = sources
  const given = [flag, ...aliases].flatMap((name) => (name === undefined ? [] : valueFrom(name, flags[name])))
  for (const name of [env, ...otherEnv]) if (name !== undefined) given.push(...valueFrom(name, environment[name]))
  if (field === undefined || !file) return given
  const inFile = fieldValues(file.fields, field).flatMap(({ name, value }) =>
    valueFrom(`the field ${name} of ${file.path}`, value),
  )
  return [...given, ...inFile]
}

function valueFrom(source: string, value: unknown): Given[] {
  if (value === undefined || value === null) return []
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return [{ source, text: isText ? String(value).trim() : undefined, kind: kindOf(value) }]
}

function describeWrongValue({ text, kind }: Given, { secret, quote = (whole) => whole }: Format<unknown>): string {
  if (text === undefined) return `is ${kind}`
  if (secret) return 'cannot be used (its value is not shown)'
  const quoted = quote(text)
  return `is ${JSON.stringify(quoted.length > 200 ? `${quoted.slice(0, 200)}...` : quoted)}`
}

function aliasWarnings(table: SettingsTable, { flags }: Sources): string[] {
  return Object.values(table).flatMap(({ flag, aliases = [] }) => {
    const [used, ...others] = [flag, ...aliases].filter((name) => name !== undefined && flags[name])
    return others.map((other) => `${other} is ignored, because ${used} is set too`)
  })
}

function fieldWarnings(table: SettingsTable, file: SettingsFile | undefined): string[] {
  if (!file) return []
  const known = Object.values(table).flatMap(({ field }) => field ?? [])
  const isKnown = (name: string) => known.some((field) => field.toLowerCase() === name.toLowerCase())
  return Object.keys(file.fields)
    .filter((name) => !isKnown(name))
    .map((name) => {
      const meant = closestWord(name, known, (word) => Math.min(3, word.length / 2))
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`
      return `the field ${JSON.stringify(name)} of ${file.path} is ignored, because there is no such setting${hint}`
    })
}
