import { Option } from 'commander'
import type { Command, HelpConfiguration } from 'commander'
import { fixedFlags, ignoredFlags } from '../settings/ignored-flags.ts'
import { absenceOf } from '../settings/setting.ts'
import type { Section, Setting } from '../settings/setting.ts'

type Row = { section: Section; setting: Setting<unknown> }

/** Gives a command the flags of its settings: the required ones first, then section by section. */
export function addSettings(command: Command, sections: readonly Section[]): Command {
  const rows = sections.flatMap((section) => Object.values(section.table).map((setting) => ({ section, setting })))
  // Dialects share flags; commander takes each once.
  const flags = [...Map.groupBy(rows, ({ setting }) => setting.flag).values()]
  const isRequired = (shared: Row[]) => shared.some(({ setting }) => 'required' in setting)
  for (const shared of flags.filter(isRequired)) addFlag(command, shared, 'Required')
  for (const shared of flags.filter((row) => !isRequired(row))) addFlag(command, shared, headingOf(shared))
  return command
}

function addFlag(command: Command, shared: Row[], heading: string): void {
  const [first] = shared
  if (first?.setting.flag === undefined) return
  const { flag, aliases = [], format } = first.setting
  const value = format.standsAlone ? `[${format.placeholder}]` : `<${format.placeholder}>`
  const option = new Option(`${flag} ${value}`, describe(shared)).helpGroup(`${heading}:`)
  if (format.repeats) option.argParser((given, before?: string) => (before ? `${before},${given}` : given))
  command.addOption(option)
  for (const alias of aliases) command.addOption(new Option(`${alias} ${value}`).helpGroup(`${heading}:`).hideHelp())
}

/** What several dialects share is no dialect's own. */
function headingOf(shared: Row[]): string {
  const isShared = shared.filter(({ section }) => section.isDialect).length > 1
  return isShared ? 'Several clouds' : (shared[0]?.section.heading ?? '')
}

/** A setting's sentence, and below it what holds without the flag, in each dialect that has it. */
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

/** One sentence for the head of a help text: the settings that have no flag, and how to give them. */
export function describeSecrets(sections: readonly Section[]): string {
  const secrets = sections.flatMap(({ table }) => Object.values(table)).filter(({ format }) => format.secret)
  const names = secrets.map((setting) => `${setting.env}${'required' in setting ? ' (required)' : ''}`)
  return `Secrets have no flag. In the environment or the configuration file: ${names.join(', ')}.`
}

/** Lets a command take upstream's flags that have no effect here, with a value or without, and shows none of them. */
export function addIgnoredFlags(command: Command): Command {
  for (const flag of Object.keys({ ...ignoredFlags, ...fixedFlags })) {
    command.addOption(new Option(`${flag} [value]`).helpGroup('Help:').hideHelp())
  }
  return command
}

/** The flags that were given, by their names; one that stood alone says true, as in Go. */
export function givenFlags(command: Command): Record<string, string> {
  const given = command.options.flatMap((option): [string, string][] => {
    const value: unknown = command.getOptionValue(option.attributeName())
    if (option.long === undefined || value === undefined) return []
    return [[option.long, typeof value === 'string' ? value : 'true']]
  })
  return Object.fromEntries(given)
}

const termWidth = 34

/** Long flags stand on a line of their own, so that the texts beside the others keep a readable width. */
export const helpLayout: HelpConfiguration = {
  padWidth: () => termWidth,
  formatItem: (...[term, width, description, helper]) => {
    const margin = ' '.repeat(width + 4)
    const text = helper.boxWrap(description, (helper.helpWidth ?? 100) - margin.length).replaceAll('\n', `\n${margin}`)
    return `  ${term.length > width ? `${term}\n${margin}` : `${term.padEnd(width)}  `}${text}`
  },
}
