import { Command, Option } from 'commander'
import { cleanupSettings, installSettings } from '../settings/commands.ts'
import type { CleanupSettings, InstallSettings } from '../settings/commands.ts'
import { resolveSettings } from '../settings/resolve.ts'
import type { Sources } from '../settings/resolve.ts'
import { serveSections, serveSettings } from '../settings/serve.ts'
import type { ServeSettings } from '../settings/serve.ts'
import { addIgnoredFlags, addSettings, describeSecrets, givenFlags, helpLayout } from './options.ts'

/** What the commands do, and what of the outside world they are given. */
export type Environment = {
  serve: (settings: ServeSettings) => Promise<void>
  install: (settings: InstallSettings) => Promise<void>
  cleanup: (settings: CleanupSettings) => Promise<void>
  version: string
  env: Sources['env']
  print: (text: string) => void
  printError: (text: string) => void
}

/** The command line: its commands, their flags and their help. It throws where others would end the process. */
export function program(surroundings: Environment): Command {
  const { version, print, printError } = surroundings
  const root = new Command('eip-admission')
    .description('Elastic IPs for Kubernetes Services of type LoadBalancer on bare metal, reserved at admission.')
    .exitOverride()
    .configureOutput({ writeOut: print, writeErr: printError, getOutHelpWidth: () => 100, getErrHelpWidth: () => 100 })
    .optionsGroup('Help:')
    .version(version, '--version', 'Prints the version.')
    .configureHelp(helpLayout)
    .addHelpOption(new Option('-h, --help', 'Prints this text.').helpGroup('Help:'))
    .helpCommand('help [command]', 'Prints the help of a command.')
    .showHelpAfterError('eip-admission --help lists the commands.')
  addServe(root, surroundings)
  addInstall(root, surroundings)
  addCleanup(root, surroundings)
  root
    .command('version')
    .description('Prints the version.')
    .action(() => print(`${version}\n`))
  return root
}

function addCommand(root: Command, name: string): Command {
  return root.command(name).showHelpAfterError(`eip-admission ${name} --help lists the flags.`)
}

function addServe(root: Command, { serve, env }: Environment): void {
  const command = addCommand(root, 'serve')
    .summary('Runs the webhooks and the controllers.')
    .description(`Runs the webhooks and the controllers.\n\n${describeSecrets(serveSections)}`)
    .action(() => serve(serveSettings({ flags: givenFlags(command), env })))
  addIgnoredFlags(addSettings(command, serveSections))
}

function addInstall(root: Command, { install, env }: Environment): void {
  const command = addCommand(root, 'install')
    .description('Installs what the cluster needs: resource definitions, roles and webhook configurations.')
    .action(() => install(resolveSettings(installSettings, { flags: givenFlags(command), env }).values))
  addSettings(command, [{ heading: 'Options', table: installSettings }])
}

function addCleanup(root: Command, { cleanup, env }: Environment): void {
  const command = addCommand(root, 'cleanup')
    .description('Takes our finalizers and webhook configurations away, so that nothing blocks the cluster.')
    .action(() => cleanup(resolveSettings(cleanupSettings, { flags: givenFlags(command), env }).values))
  addSettings(command, [{ heading: 'Options', table: cleanupSettings }])
}
