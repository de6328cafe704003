import type { Annotation } from '../lib/annotation.ts'
import { oneOf } from '../lib/text.ts'

export type Flag = `--${string}`

/** The result of parsing a text: its value, or a description of what it must be. */
export type Reading<T> = { value: T } | { right: string }

export type Format<T> = {
  /** The placeholder in a help text: `--metro <code>`. */
  placeholder: string
  read: (text: string) => Reading<T>
  /** A pattern that every valid text matches, as a regular expression without flags. The chart checks values with it. */
  pattern?: string
  /** The range of a number, for the same check. */
  range?: { from: number; to: number }
  /** The value is never printed, not even partly. */
  secret?: true
  /** The flag may stand without a value and then means true. */
  standsAlone?: true
  /** The flag may be repeated; each value is added to the list. */
  repeats?: true
  /** A text that means "not set" to a predecessor. An empty text means that for every setting. */
  unset?: string
  /** Removes from a text what an error message must not quote. */
  quote?: (text: string) => string
}

/** The sources of a value, the strongest first. */
export type Places = {
  flag?: Flag
  /** A one-letter form of the flag, as in other programs. */
  short?: `-${string}`
  aliases?: readonly Flag[]
  env?: string
  otherEnv?: readonly string[]
  field?: string
}

/**
 * The effect of a missing value: we refuse to start, the default applies, or the value is undefined as `unset`
 * describes.
 */
export type Absence = { required: true } | { default: string } | { unset: string }

/** A row of a table of settings. */
export type Setting<T> = Places &
  Absence & {
    /** Its name in messages and in the reference; by default the words of its flag. */
    title?: string
    format: Format<T>
    sentence: string
    /** The process reloads a changed value while it runs. */
    isReloaded?: true
    /** The setting finds the control-plane address at the provider. If it is set, the chart runs guardians. */
    findsControlPlaneAddress?: true
    /** The annotation that this setting names. */
    annotation?: Omit<Annotation, 'name'>
  }

/** Settings by their names in code. */
export type SettingsTable = Readonly<Record<string, Setting<unknown>>>

/** The typed values of a table. */
export type ValuesOf<Table> = {
  -readonly [Name in keyof Table]: Table[Name] extends { format: Format<infer Value> }
    ? Table[Name] extends { unset: string }
      ? Value | undefined
      : Value
    : never
}

/** Settings under one heading of the help text and the reference page. */
export type Section = { heading: string; table: SettingsTable; isDialect?: true }

/** The name of a setting for people. */
export function titleOf({ title, flag = '--' }: Pick<Setting<unknown>, 'title' | 'flag'>): string {
  return title ?? flag.slice(2).replaceAll('-', ' ')
}

/** The sources of a setting, for messages. */
export function placesOf({ flag, env, otherEnv = [], field }: Places): string[] {
  return [flag, env, ...otherEnv, field && `the field ${field} of the configuration file`].filter(
    (place) => place !== undefined,
  )
}

/** The same as one text: any of them is enough. */
export function placesText(places: Places): string {
  return oneOf(placesOf(places))
}

/** The effect of a missing value, for the help text; undefined if the setting is required. */
export function absenceOf(setting: Setting<unknown>): string | undefined {
  if ('required' in setting) return undefined
  return 'unset' in setting ? setting.unset : setting.default || 'none'
}
