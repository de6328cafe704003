export type Flag = `--${string}`

/** What a text turned out to be: a value, or in words what it must be. */
export type Reading<T> = { value: T } | { right: string }

/** How a value is written. */
export type Format<T> = {
  /** Stands for the value in a help text: `--metro <code>`. */
  placeholder: string
  read: (text: string) => Reading<T>
  /** Neither the value nor a part of it is ever printed. */
  secret?: true
  /** The flag may stand alone, and then says true. */
  standsAlone?: true
  /** The flag may be repeated, and then adds to the list. */
  repeats?: true
  /** A text that a predecessor takes for "not set", as every setting takes the empty one. */
  unset?: string
  /** The text as an error may quote it, where it can carry something that must not be printed. */
  quote?: (text: string) => string
}

/** Where a value may come from, strongest first. */
export type Places = {
  flag?: Flag
  aliases?: readonly Flag[]
  env?: string
  otherEnv?: readonly string[]
  field?: string
}

/** What happens without a value: we refuse to start, a default is read, or the setting is undefined, which means... */
export type Absence = { required: true } | { default: string } | { unset: string }

/** One row of a table of settings. */
export type Setting<T> = Places & Absence & { title: string; format: Format<T>; sentence: string }

/** Settings by the names that code gives them. */
export type SettingsTable = Readonly<Record<string, Setting<unknown>>>

/** The typed values of a table. */
export type ValuesOf<Table> = {
  -readonly [Name in keyof Table]: Table[Name] extends { format: Format<infer Value> }
    ? Table[Name] extends { unset: string }
      ? Value | undefined
      : Value
    : never
}

/** Rows that people look for together. */
export type Section = { heading: string; table: SettingsTable; isDialect?: true }

/** The places of a setting as a person would name them. */
export function placesOf({ flag, env, otherEnv = [], field }: Places): string[] {
  return [flag, env, ...otherEnv, field && `the field ${field} of the configuration file`].filter(
    (place) => place !== undefined,
  )
}

/** What holds without a value, as a person would say it; undefined where there must be one. */
export function absenceOf(setting: Setting<unknown>): string | undefined {
  if ('required' in setting) return undefined
  return 'unset' in setting ? setting.unset : setting.default || 'none'
}
