import { CommanderError } from 'commander'
import type { Command } from 'commander'
import { SettingsError } from '../settings/problems.ts'
import { program } from './program.ts'
import type { Environment } from './program.ts'

/**
 * Carries out a command line (without the program's own path) and answers the exit code. Mistakes in the command line
 * and in the settings are printed; any other error is the command's own and is thrown.
 */
export async function run(args: readonly string[], surroundings: Environment): Promise<number> {
  try {
    const root = program(surroundings)
    await root.parseAsync(withoutStrayValues(root, withCommand(args)), { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    if (!(error instanceof SettingsError)) throw error
    surroundings.printError(`${error.message}\n`)
    return 1
  }
}

/** Manifests of predecessors, which have one command, begin with the flags of `serve`. */
function withCommand(args: readonly string[]): string[] {
  const [first = ''] = args
  const isServe = first.startsWith('--') && first !== '--help' && first !== '--version'
  return isServe ? ['serve', ...args] : [...args]
}

/** Commander quotes an unknown `--flag=value` whole, which may show a secret, and finds no flag similar to it. */
function withoutStrayValues(root: Command, args: string[]): string[] {
  const command = root.commands.find((known) => known.name() === args[0]) ?? root
  const flags = command.options.map(({ long }) => long)
  return args.map((arg) => {
    const [flag = '', ...value] = arg.split('=')
    return flag.startsWith('--') && value.length > 0 && !flags.includes(flag) ? flag : arg
  })
}
