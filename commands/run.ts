import { CommanderError, type Command } from 'commander'
import { cloudChoice } from '../clouds/cloud-choice.ts'
import { SettingsError } from '../settings/problems.ts'
import { program, type ProgramDeps } from './program.ts'

/**
 * Runs a command line, without the path of the program, and returns the exit code. Problems of the command line and of
 * the settings are printed. Any other error belongs to the command and is thrown.
 */
export async function run(given: readonly string[], deps: Omit<ProgramDeps, 'ended' | 'help'>): Promise<number> {
  let exitCode = 0
  // Commander's help takes no value.
  const args = given.map((arg) => (arg === wholeHelp ? '--help' : arg))
  const asksHelp = args[0] === 'help' || args.includes('--help') || args.includes('-h')
  try {
    const root = program({
      ...deps,
      // Commander suggests only visible flags for a misspelt one, so all are visible unless the help is requested.
      help: asksHelp && !given.includes(wholeHelp) ? { provider: providerIn(args) } : undefined,
      ended: (code) => void (exitCode = code ?? 0),
    })
    await root.parseAsync(withoutUnknownValues(root, withCommand(args)), { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    if (!(error instanceof SettingsError)) throw error
    deps.printError(`${error.message}\n`)
    return 1
  }
}

const wholeHelp = '--help=all'

function providerIn(args: readonly string[]): string | undefined {
  const { flag } = cloudChoice.dialect
  const [last] = args
    .flatMap((arg, n) =>
      arg === flag ? (args[n + 1] ?? []) : arg.startsWith(`${flag}=`) ? arg.slice(flag.length + 1) : [],
    )
    .slice(-1)
  return last
}

/** The predecessors have a single command, so their manifests begin with the flags of `serve`. */
function withCommand(args: readonly string[]): string[] {
  const [first = ''] = args
  const isServe = first.startsWith('--') && first !== '--help' && first !== '--version'
  return isServe ? ['serve', ...args] : [...args]
}

/** Commander quotes all of an unknown `--flag=value`, which may print a secret, and then suggests no similar flag. */
function withoutUnknownValues(root: Command, args: string[]): string[] {
  const first = root.commands.find((known) => known.name() === args[0]) ?? root
  const command = first.commands.find((known) => first !== root && known.name() === args[1]) ?? first
  const flags = command.options.map(({ long }) => long)
  return args.map((arg) => {
    const [flag = '', ...value] = arg.split('=')
    return flag.startsWith('--') && value.length > 0 && !flags.includes(flag) ? flag : arg
  })
}
