import { Argument, Command, Option } from 'commander'
import {
  cleanupSettings,
  doctorSettings,
  installSettings,
  readInstallSettings,
  takeoverPlanSettings,
  type CleanupSettings,
  type DoctorSettings,
  type InstallSettings,
  type TakeoverPlanSettings,
} from './settings/commands.ts'
import {
  takeoverApplySettings,
  takeoverUndoSettings,
  type TakeoverApplySettings,
  type TakeoverUndoSettings,
} from './settings/takeover-apply.ts'
import { dialects } from '../clouds/dialects.ts'
import { resolveSettings, type Sources } from '../settings/resolve.ts'
import type { Section, SettingsTable } from '../settings/setting.ts'
import { serveSections, serveSettings, type ServeSettings } from './settings/serve.ts'
import { type Having, addIgnoredFlags, addSettings, describeSecrets, givenFlags, helpLayout } from './options.ts'

/** A command with its settings. It may end with an exit code of its own. */
type Start<Settings> = (settings: Settings) => Promise<number | void>

export type Commands = {
  serve: Start<ServeSettings>
  install: Start<InstallSettings>
  cleanup: Start<CleanupSettings>
  doctor: Start<DoctorSettings>
  takeoverPlan: Start<TakeoverPlanSettings>
  takeoverApply: Start<TakeoverApplySettings>
  takeoverUndo: Start<TakeoverUndoSettings>
}

/** The commands, and what the command line needs of the process. */
export type ProgramDeps = Commands & {
  version: string
  env: Sources['env']
  print: (text: string) => void
  printError: (text: string) => void
  /** Receives the exit code of a command that has one. */
  ended: (exitCode: number | void) => void
  /**
   * The value of --cloud-provider whose flags a help text shows, besides those of every provider. Absent: all flags.
   */
  help?: { provider: string | undefined } | undefined
}

/** The flags of a command, those of `serve` beside them, and the environment. */
type Given = { flags: Record<string, string>; ofServe: Record<string, string>; env: Sources['env'] }

/** A command that runs once. `beside`: it takes the flags of `serve` too. */
type OnceCommand = {
  words: string
  table: SettingsTable
  beside?: Having
  summary: string
  description: string
  start: (commands: Commands, given: Given) => Promise<number | void>
}

/**
 * The variables that `takeover` reads from the environment. All others are the predecessor's, if it runs outside the
 * cluster.
 */
const foundVariables = ['KUBECONFIG', 'POD_NAMESPACE']

/** Every command beside `serve` that has settings, in the order of the help text. */
export const onceCommands: readonly OnceCommand[] = [
  {
    words: 'install',
    table: installSettings,
    summary: 'Prepares a cluster for serve.',
    description:
      'Applies the objects that serve needs: a namespace, the ElasticIP CRD, roles, Secrets and ' +
      'webhook configurations. It is safe to repeat with the same flags. Afterwards, run `eip-admission ' +
      'serve`.',
    start: ({ install }, given) => install(readInstallSettings(given)),
  },
  {
    words: 'cleanup',
    table: cleanupSettings,
    summary: 'Removes what could block a cluster without serve.',
    description:
      'Deletes the webhook configurations and removes the finalizers of eip-admission from Services and ElasticIPs, ' +
      'so that nothing blocks the cluster when serve no longer runs. It also deletes the Service that mirrors the ' +
      'API servers. It lists the reservations, which stay. ' +
      'Stop every `eip-admission serve` first: if one still runs at the end, cleanup exits with 1.',
    start: ({ cleanup }, given) => cleanup(resolveSettings(cleanupSettings, given).values),
  },
  {
    words: 'doctor',
    table: doctorSettings,
    beside: { requiresNone: true },
    summary: 'Checks a live cluster and its provider, and changes nothing.',
    description:
      'Checks a live cluster and its provider, and says what is wrong, why, and which command fixes it. It changes nothing. ' +
      'It reads the settings of `eip-admission serve` from the Deployment in the cluster, and from the ' +
      'Secrets and ConfigMaps that it names; flags of `serve` take precedence. With --cloud-provider, it ' +
      'reads only its own flags and environment. It exits with 1 for errors, and with 2 if it could not check everything.',
    start: ({ doctor }, given) => doctor({ ...resolveSettings(doctorSettings, given).values, flags: given.ofServe }),
  },
  {
    words: 'takeover plan',
    table: takeoverPlanSettings,
    beside: { found: foundVariables },
    summary: 'Says what a takeover would do, and changes nothing.',
    description:
      'Reads the cluster and the provider, and says what a takeover would do: its settings for ' +
      'eip-admission, the address of each Service before and after, and what blocks it. It changes nothing. It ' +
      'finds the settings itself; a flag of `eip-admission serve` takes precedence over them. Variables of ' +
      '`eip-admission serve` take effect only if the predecessor runs outside the cluster. It exits with 0 if ' +
      '`takeover apply` can start, otherwise with 1.',
    start: ({ takeoverPlan }, given) =>
      takeoverPlan({ ...resolveSettings(takeoverPlanSettings, given).values, flags: given.ofServe }),
  },
  {
    words: 'takeover apply',
    table: takeoverApplySettings,
    beside: { found: foundVariables },
    summary: 'Takes over, step by step. You can repeat it until it is done.',
    description:
      'Makes the plan again, and refuses to start if anything blocks the migration. Then it starts eip-admission on ' +
      'standby, stops the predecessor, frees its lease, waits until eip-admission leads and has adopted every ' +
      'reservation, and verifies each Service. You can stop and repeat it at any time: every step first looks at the ' +
      'cluster. It needs the flags of `takeover plan`, and the rights of an administrator of the cluster.',
    start: ({ takeoverApply }, given) =>
      takeoverApply({ ...resolveSettings(takeoverApplySettings, given).values, flags: given.ofServe }),
  },
  {
    words: 'takeover undo',
    table: takeoverUndoSettings,
    summary: 'Restores the predecessor, whatever the state of the takeover.',
    description:
      "Stops eip-admission, restores Services and MetalLB's objects to the form that the predecessor expects, " +
      'and starts it as it was found. No address changes, and nothing is deleted at the provider. Stop every ' +
      '`eip-admission serve` outside of the cluster yourself. You can stop and repeat it at any time.',
    start: ({ takeoverUndo }, given) => takeoverUndo(resolveSettings(takeoverUndoSettings, given).values),
  },
]

/** The command line: its commands, their flags and their help. It throws instead of ending the process. */
export function program(deps: ProgramDeps): Command {
  const { version, print, printError } = deps
  const root = new Command('eip-admission')
    .description('Gives Kubernetes Services of type LoadBalancer on bare metal their public address at admission.')
    .exitOverride()
    .configureOutput({ writeOut: print, writeErr: printError, getOutHelpWidth: () => 100, getErrHelpWidth: () => 100 })
    .optionsGroup('Help:')
    .version(version, '--version', 'Prints the version.')
    .configureHelp(helpLayout)
    .addHelpOption(new Option('-h, --help', 'Prints this help text.').helpGroup('Help:'))
    .helpCommand('help [command]', 'Prints the help text of a command.')
    .showHelpAfterError('eip-admission --help lists the commands.')
  addServe(root, deps)
  for (const command of onceCommands) addOnce(root, command, deps)
  root
    .command('version')
    .description('Prints the version.')
    .action(() => print(`${version}\n`))
  root
    .command('completion')
    .summary('Prints the completion script for a shell.')
    .description(
      'Prints a script with which a shell completes commands and flags. In bash, for this session: ' +
        '`source <(eip-admission completion bash)`.',
    )
    .addArgument(new Argument('<shell>', 'The shell.').choices(shells))
    .action((shell: Shell) => print(completionScript(root, shell)))
  return root
}

/** Whether the help of `serve` shows a section. */
function ofCloud(help: ProgramDeps['help']): (section: Section) => boolean {
  const named = dialects.find(({ providers }) => providers.some((name) => name === help?.provider?.toLowerCase()))
  return ({ isDialect, heading }) => !help || !isDialect || heading === named?.title
}

/**
 * The help of a command that finds the settings of `serve` itself shows only how to reach the cluster and the provider.
 */
function ofFinder(help: ProgramDeps['help']): (section: Section) => boolean {
  const places = ['Provider', 'Cluster']
  return (section) => !help || !serveSections.includes(section) || places.includes(section.heading)
}

const wholeHelp = '\n--help=all shows every flag of serve.'

function addServe(root: Command, { serve, env, help, ended }: ProgramDeps): void {
  const shows = ofCloud(help)
  const ofNamed = serveSections.filter((section) => section.isDialect && shows(section))
  const command = commandAt(root, 'serve')
    .summary('Runs the webhooks and the controllers.')
    .description(
      `Runs the webhooks and the controllers until it receives SIGTERM. Run \`eip-admission install\` first.\n\n${describeSecrets(ofNamed.length > 0 ? ofNamed : serveSections)}`,
    )
    .action(async () => ended(await serve(serveSettings({ flags: givenFlags(command), env }))))
  addIgnoredFlags(addSettings(command, serveSections, { shows }))
  if (help)
    command.addHelpText(
      'after',
      '\n--cloud-provider=NAME --help also shows the flags of that provider, --help=all those of every provider.',
    )
}

function addOnce(root: Command, { words, table, beside, summary, description, start }: OnceCommand, deps: ProgramDeps) {
  const { env, help, ended } = deps
  const command = commandAt(root, words)
    .summary(summary)
    .description(description)
    .action(async () => ended(await start(deps, { ...separateFlags(givenFlags(command), table), env })))
  const own = { heading: 'Options', table }
  if (!beside) return addSettings(command, [own])
  addIgnoredFlags(addSettings(command, [own, ...serveSections], { ...beside, shows: ofFinder(help) }))
  return help ? command.addHelpText('after', wholeHelp) : command
}

function commandAt(root: Command, words: string): Command {
  const [name = '', ...inner] = words.split(' ')
  const outer = inner.length === 0 ? root : (root.commands.find((known) => known.name() === name) ?? addTakeover(root))
  return outer.command(inner.at(-1) ?? name).showHelpAfterError(`eip-admission ${words} --help lists the flags.`)
}

function addTakeover(root: Command): Command {
  return commandAt(root, 'takeover')
    .summary('Takes over a cluster from the program that runs it today.')
    .description(
      "Takes over a cluster from Equinix Metal's, Sidero Labs', Packet's or Cherry Servers' cloud controller manager. " +
        'Every Service keeps its address. Nothing is reserved or deleted at the provider.',
    )
}

/** The flags of a table, and the flags of `serve` beside them. */
function separateFlags(given: Record<string, string>, table: SettingsTable): Pick<Given, 'flags' | 'ofServe'> {
  const names = new Set<string | undefined>(Object.values(table).map(({ flag }) => flag))
  const entries = Object.entries(given)
  return {
    flags: Object.fromEntries(entries.filter(([flag]) => names.has(flag))),
    ofServe: Object.fromEntries(entries.filter(([flag]) => !names.has(flag))),
  }
}

const shells = ['bash', 'zsh', 'fish'] as const

type Shell = (typeof shells)[number]

/** The script by which a shell completes the commands and flags of the program. */
export function completionScript(root: Command, shell: Shell): string {
  const places = placesOf(root, [])
  const bash = bashScript(root.name(), places)
  if (shell === 'fish') return fishScript(root.name(), places)
  return shell === 'bash' ? bash : `autoload -U +X bashcompinit && bashcompinit\n${bash}`
}

/** The words of a command, and what may follow them. */
type Place = { words: string[]; commands: readonly Command[]; flags: { name: string; meaning: string }[] }

/** A command comes after its subcommands, because the first match decides. */
function placesOf(command: Command, words: string[]): Place[] {
  const { commands, options } = command
  const flags = options.flatMap(({ long, hidden, description }) =>
    long && !hidden ? [{ name: long, meaning: description }] : [],
  )
  return [...commands.flatMap((sub) => placesOf(sub, [...words, sub.name()])), { words, commands, flags }]
}

function bashScript(program: string, places: readonly Place[]): string {
  const cases = places.map(({ words, commands, flags }) => {
    const offers = [...commands.map((command) => command.name()), ...flags.map(({ name }) => name), '--help']
    return `    ' ${words.join(' ')}'*) offers='${offers.join(' ')}' ;;`
  })
  const name = `_${program.replaceAll('-', '_')}`
  return `${name}() {
  local offers
  case " \${COMP_WORDS[*]:1:COMP_CWORD-1}" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$offers" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F ${name} ${program}
`
}

function fishScript(program: string, places: readonly Place[]): string {
  const lines = places.flatMap(({ words, commands, flags }) => {
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`)
    const isLast = commands.length === 0 ? [] : [`not __fish_seen_subcommand_from ${namesOf(commands)}`]
    const at = `complete -c ${program} -n '${[...seen, ...isLast].join('; and ')}'`
    return [
      ...commands.map((command) => `${at} -f -a ${command.name()} -d ${quoted(command.summary())}`),
      ...flags.map(({ name, meaning }) => `${at} -l ${name.slice(2)} -d ${quoted(meaning)}`),
    ]
  })
  return `${lines.join('\n')}\n`
}

function namesOf(commands: readonly Command[]): string {
  return commands.map((command) => command.name()).join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll(/\s+/g, ' ').replaceAll(/['\\]/g, (character) => `\\${character}`)}'`
}
