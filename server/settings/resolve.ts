import { kindOf } from './file.ts'
import type { SettingsFile } from './file.ts'
import { SettingsError } from './problems.ts'
import type { Problem } from './problems.ts'
import { placesOf } from './setting.ts'
import type { Format, Reading, Setting, SettingsTable, ValuesOf } from './setting.ts'
import { closestWord } from '../../lib/closest-word.ts'
import { oneOf } from './words.ts'

/** Where values come from: flags by their name with both dashes, the environment, and the configuration file if any. */
export type Sources = {
  flags: Readonly<Record<string, string>>
  env: Readonly<Record<string, string | undefined>>
  file?: SettingsFile | undefined
}

/** Typed values, or else every problem that kept us from having them. */
export type Resolution<Values> = { values: Values | undefined; problems: Problem[]; warnings: string[] }

/** The typed values of a table and what a person should know about them; throws a SettingsError with every problem. */
export function resolveSettings<Table extends SettingsTable>(
  table: Table,
  sources: Sources,
): { values: ValuesOf<Table>; warnings: string[] } {
  const { values, problems, warnings } = readSettings(table, sources)
  if (!values) throw new SettingsError(problems)
  return { values, warnings }
}

/** As resolveSettings, with the problems as a value, so that those of several tables can be told together. */
export function readSettings<Table extends SettingsTable>(table: Table, sources: Sources): Resolution<ValuesOf<Table>> {
  const readings = Object.entries(table).map(([name, setting]) => ({ name, ...readSetting(setting, sources) }))
  const problems = [...(sources.file?.problems ?? []), ...readings.flatMap(({ problem }) => problem ?? [])]
  const warnings = [...aliasWarnings(table, sources), ...fieldWarnings(table, sources.file)]
  if (problems.length > 0) return { values: undefined, problems, warnings }
  // The table's type promises the shape that its own rows just gave.
  const values = Object.fromEntries(readings.map(({ name, value }) => [name, value])) as ValuesOf<Table>
  return { values, problems, warnings }
}

type Outcome = { value?: unknown; problem?: Problem }

function readSetting(setting: Setting<unknown>, sources: Sources): Outcome {
  const { title, format } = setting
  const found = givenOf(setting, sources).find(
    ({ text }) => text === undefined || (text !== '' && text !== format.unset),
  )
  if (!found) return readAbsent(setting)
  const { source, text } = found
  const reading: Reading<unknown> =
    text === undefined ? { right: 'a text, a number, true or false' } : format.read(text)
  if ('value' in reading) return reading
  return { problem: { setting: title, source, wrong: wrongWith(found, format), right: `it must be ${reading.right}` } }
}

function readAbsent(setting: Setting<unknown>): Outcome {
  if ('unset' in setting) return {}
  if ('required' in setting) {
    return { problem: { setting: setting.title, wrong: 'not set', right: `set ${oneOf(placesOf(setting))}` } }
  }
  const reading = setting.format.read(setting.default)
  if ('value' in reading) return reading
  throw new Error(`the default of ${setting.title} must be ${reading.right}`)
}

/** What a source says. Only a file can give what is no text at all, and then we know its kind. */
type Given = { source: string; text: string | undefined; kind: string }

/** What the sources of a setting say of it, the strongest first. */
function givenOf({ flag, aliases = [], env, otherEnv = [], field }: Setting<unknown>, sources: Sources): Given[] {
  const { flags, env: environment, file } = sources
  const given = [flag, ...aliases].flatMap((name) => (name === undefined ? [] : saying(name, flags[name])))
  for (const name of [env, ...otherEnv]) if (name !== undefined) given.push(...saying(name, environment[name]))
  if (field === undefined || !file) return given
  const spellings = Object.keys(file.fields).filter((name) => name.toLowerCase() === field.toLowerCase())
  // Of several spellings of one field the last counts, as in Go's JSON reader.
  const inFile = spellings.reverse().flatMap((name) => saying(`the field ${name} of ${file.path}`, file.fields[name]))
  return [...given, ...inFile]
}

function saying(source: string, value: unknown): Given[] {
  if (value === undefined || value === null) return []
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return [{ source, text: isText ? String(value).trim() : undefined, kind: kindOf(value) }]
}

function wrongWith({ text, kind }: Given, { secret, quote = (whole) => whole }: Format<unknown>): string {
  if (text === undefined) return `is ${kind}`
  if (secret) return 'cannot be used (its value is not shown)'
  const quoted = quote(text)
  return `is ${JSON.stringify(quoted.length > 200 ? `${quoted.slice(0, 200)}...` : quoted)}`
}

function aliasWarnings(table: SettingsTable, { flags }: Sources): string[] {
  return Object.values(table).flatMap(({ flag, aliases = [] }) => {
    const [taken, ...others] = [flag, ...aliases].filter((name) => name !== undefined && flags[name])
    return others.map((other) => `${other} is ignored, as ${taken} is given too`)
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
      return `the field ${JSON.stringify(name)} of ${file.path} is ignored: there is no such setting${hint}`
    })
}
