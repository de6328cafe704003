import { Option, type Command, type HelpConfiguration } from 'commander'
import { fixedFlags, ignoredFlags } from './settings/ignored-flags.ts'
import { absenceOf, type Section, type Setting } from '../settings/setting.ts'

type Row = { section: Section; setting: Setting<unknown> }

/** How a command takes settings: which variables it reads, whether any is required, which sections its help shows. */
export type Having = {
  found?: readonly string[]
  requiresNone?: boolean
  shows?: (section: Section) => boolean
}

/**
 * Adds the flags of settings to a command: the required ones first, then section by section. A command that finds the
 * settings of `serve` itself requires no flags, and reads only the variables `found`.
 */
export function addSettings(
  command: Command,
  sections: readonly Section[],
  { found, requiresNone = found !== undefined, shows = () => true }: Having = {},
): Command {
  const rows = sections.flatMap((section) =>
    Object.values(section.table).map((setting) => ({ section, setting: found ? withEnv(setting, found) : setting })),
  )
  // Dialects share flags, but commander accepts each flag only once.
  const flags = [...Map.groupBy(rows, ({ setting }) => setting.flag).values()]
  const isRequired = (shared: Row[]) => !requiresNone && shared.some(({ setting }) => 'required' in setting)
  const required = flags.filter(isRequired)
  for (const shared of [...required, ...flags.filter((row) => !isRequired(row))]) {
    const shown = shared.filter(({ section }) => shows(section))
    const heading = required.includes(shared) ? 'Required' : headingOf(shown)
    const options = optionOf(shown.length > 0 ? shown : shared, heading)
    for (const one of options) command.addOption(shown.length > 0 ? one : one.hideHelp())
  }
  return command
}

/** The setting, without its variable unless that is one of these. */
function withEnv(setting: Setting<unknown>, variables: readonly string[]): Setting<unknown> {
  const { env, ...others } = setting
  return env !== undefined && variables.includes(env) ? setting : others
}

/** The flag of a setting that several sections may share, and its other names. */
function optionOf(shared: Row[], heading: string): Option[] {
  const [first] = shared
  if (first?.setting.flag === undefined) return []
  const { flag, short, aliases = [], format } = first.setting
  const value = format.standsAlone ? `[${format.placeholder}]` : `<${format.placeholder}>`
  const names = short === undefined ? flag : `${short}, ${flag}`
  const option = new Option(`${names} ${value}`, describe(shared)).helpGroup(`${heading}:`)
  if (format.repeats) option.argParser((given, before?: string) => (before ? `${before},${given}` : given))
  return [option, ...aliases.map((alias) => new Option(`${alias} ${value}`).helpGroup(`${heading}:`).hideHelp())]
}

/** A flag that several dialects have gets a heading of its own. */
function headingOf(shared: Row[]): string {
  const isShared = shared.filter(({ section }) => section.isDialect).length > 1
  return isShared ? 'Several clouds' : (shared[0]?.section.heading ?? '')
}

/** The sentence of a setting, and below it the default in each dialect that has the flag. */
function describe(shared: Row[]): string {
  const facts = shared.flatMap(({ section, setting }) => {
    const own = factsOf(setting)
    return section.isDialect && shared.length > 1 ? [`${section.heading}: ${own.join(', ')}`] : own
  })
  return [shared[0]?.setting.sentence, ...facts].join('\n')
}

function factsOf(setting: Setting<unknown>): string[] {
  const absence = absenceOf(setting)
  return [
    ...(absence === undefined ? [] : [`default: ${absence}`]),
    ...(setting.env === undefined ? [] : [`env: ${setting.env}`]),
  ]
}

/** The sentence about settings without a flag, for the head of a help text. */
export function describeSecrets(sections: readonly Section[]): string {
  const secrets = sections.flatMap(({ table }) => Object.values(table)).filter(({ format }) => format.secret)
  const names = secrets.map((setting) => `${setting.env}${'required' in setting ? ' (required)' : ''}`)
  return `Secrets have no flag. Set them in the environment or in the configuration file: ${names.join(', ')}.`
}

/** Adds upstream's flags without effect to a command, with or without a value. The help text does not show them. */
export function addIgnoredFlags(command: Command): Command {
  for (const flag of Object.keys({ ...ignoredFlags, ...fixedFlags })) {
    command.addOption(new Option(`${flag} [value]`).helpGroup('Help:').hideHelp())
  }
  return command
}

/** The flags of the command line by their names. A flag without a value is true, as in Go. */
export function givenFlags(command: Command): Record<string, string> {
  const given = command.options.flatMap((option): [string, string][] => {
    const value: unknown = command.getOptionValue(option.attributeName())
    if (option.long === undefined || value === undefined) return []
    return [[option.long, typeof value === 'string' ? value : 'true']]
  })
  return Object.fromEntries(given)
}

const termWidth = 34

/** A long flag is on a line of its own, so that the texts beside short flags keep a readable width. */
export const helpLayout: HelpConfiguration = {
  padWidth: () => termWidth,
  formatItem: (...[term, width, description, helper]) => {
    const margin = ' '.repeat(width + 4)
    const text = helper.boxWrap(description, (helper.helpWidth ?? 100) - margin.length).replaceAll('\n', `\n${margin}`)
    return `  ${term.length > width ? `${term}\n${margin}` : `${term.padEnd(width)}  `}${text}`
  },
}
