import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { connect } from '../kube/connect.ts'
import { kubeconfig } from '../kube/kubeconfig.ts'
import { carryClusterFlags } from '../lib/cluster-flags.ts'
import { isDnsLabel } from '../lib/names.ts'
import { parseDuration } from '../lib/duration.ts'
import { plainText } from '../lib/plain-text.ts'
import { adopt } from './adopt.ts'
import { complete } from './complete.ts'
import { type Io, Refusal } from './io.ts'
import { type ListOptions, formats, list } from './list.ts'
import { move } from './move.ts'
import type { Cluster } from './reader.ts'
import { release } from './release.ts'
import { status } from './status.ts'
import { why } from './why.ts'

export type PluginDeps = Io & { version: string }

type Place = { kubeconfig?: string; context?: string; namespace?: string }
type Waiting = { yes?: true; timeout: number }

/** Runs a command line of `kubectl eip`, without the name of the program, and returns the exit code. */
export async function runPlugin(args: readonly string[], deps: PluginDeps): Promise<number> {
  try {
    if (args[0] === '__complete') {
      await complete(args.slice(1), { cluster: (place) => clusterOf(place, deps.version), print: deps.print })
      return 0
    }
    await program(deps).parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    const message = error instanceof Error ? error.message : String(error)
    deps.printError(`${error instanceof Refusal ? 'refused' : 'error'}: ${plainText(message)}\n`)
    return 1
  }
}

/** The cluster and namespace that a person means, as kubectl would find them. */
async function clusterOf({ kubeconfig: file, context, namespace }: Place, version: string): Promise<Cluster> {
  const credentials = kubeconfig({ file, context })
  const client = connect(credentials, { userAgent: `kubectl-eip/${version}`, timeoutMs: 30_000 })
  return { client, namespace: namespace ?? (await credentials.current()).namespace ?? 'default', now: new Date() }
}

type Run = (place: Place, work: (cluster: Cluster, io: Io) => Promise<void>) => Promise<void>

/** Runs the work of a command on the cluster that a person means. What it tells that person to type is for this cluster too. */
function commandRunner(deps: PluginDeps): Run {
  return async (place, work) => {
    const carry = (text: string) => carryClusterFlags(text, place)
    const { print, printError, ask } = deps
    const io = {
      print: (text: string) => print(carry(text)),
      printError: (text: string) => printError(carry(text)),
      ask,
    }
    try {
      await work(await clusterOf(place, deps.version), io)
    } catch (error) {
      throw error instanceof Refusal ? new Refusal(carry(error.message)) : error
    }
  }
}

function program(deps: PluginDeps): Command {
  const { print, printError, version } = deps
  const root = new Command('kubectl eip')
    .description(
      'Public addresses of Services, as eip-admission keeps them. It uses your kubeconfig and your rights, and never ' +
        'calls the provider itself.',
    )
    .exitOverride()
    .configureOutput({ writeOut: print, writeErr: printError, getOutHelpWidth: () => 100, getErrHelpWidth: () => 100 })
    .version(version, '--version', 'Prints the version.')
    .helpOption('-h, --help', 'Prints this help text.')
    .helpCommand('help [command]', 'Prints the help text of a command.')
    .showHelpAfterError('kubectl eip --help lists the commands.')
  const run = commandRunner(deps)

  addCommand(
    root,
    'why <service>',
    'Shows where the address of a Service is and how it came there, or why it has none.',
  ).action((service: string, place: Place) => run(place, (cluster, io) => why(cluster, service, io)))

  addCommand(root, 'list', 'Lists the addresses of a namespace, and those that its Services may claim.')
    .option('-A, --all-namespaces', 'Lists the addresses of the whole cluster.')
    .addOption(new Option('-o, --output <format>', 'How to print them.').choices(formats))
    .action(({ allNamespaces = false, output, ...place }: Place & Partial<ListOptions>) =>
      // It prints what is stored, and that as it is.
      run(place, (cluster) => list(cluster, { allNamespaces, output }, deps)),
    )

  addCommand(root, 'status', 'Shows how many addresses there are, what waits, and whether eip-admission works.').action(
    (place: Place) => run(place, status),
  )

  addWaiting(addCommand(root, 'release <name>', 'Gives a kept address back.'))
    .description(
      'Gives a kept address back. NAME is its ElasticIP, the address, or the Service that it is kept for, also as ' +
        'NAMESPACE/NAME. It refuses an address that a Service has.',
    )
    .action((name: string, { yes, timeout, ...place }: Place & Waiting) =>
      run(place, (cluster, io) => release(cluster, { name, yes: yes ?? false, waitMs: timeout }, io)),
    )

  addAdopt(root, run)
  addMove(root, run)
  return root
}

function addAdopt(root: Command, run: Run): void {
  addTimeout(addCommand(root, 'adopt <reservation>', 'Makes an address available that the project has already.'))
    .description(
      'Makes an address available that the project has already: writes an ElasticIP for RESERVATION, which is the id ' +
        'that the provider gave it.',
    )
    .option('--name <name>', 'The name of the ElasticIP.')
    .option('--service <service>', 'The one Service that may have the address: NAME or NAMESPACE/NAME.')
    .option('--allow <namespace...>', 'The namespaces whose Services may have the address; without it, all.')
    .action(
      (
        what: string,
        {
          name,
          service,
          allow = [],
          timeout,
          ...place
        }: Place & Waiting & { name?: string; service?: string; allow?: string[] },
      ) => run(place, (cluster, io) => adopt(cluster, { what, name, service, allowed: allow, waitMs: timeout }, io)),
    )
}

function addMove(root: Command, run: Run): void {
  addWaiting(addCommand(root, 'move <from>', 'Moves an address that no Service has any more to another Service.'))
    .description(
      'Moves an address that no Service has any more to another Service. FROM is its ElasticIP, the address, or the ' +
        'Service that it is kept for, also as NAMESPACE/NAME.\n\nAn address that a Service has cannot move: two Services ' +
        'would show it for a while, and a Service cannot exchange its address. Then this refuses, and prints the steps ' +
        'in the safe order.',
    )
    .requiredOption('--to <service>', 'The Service that may have the address: NAME or NAMESPACE/NAME.')
    .option('--name <name>', 'The name of a new ElasticIP, where one is needed.')
    .action((from: string, { to, name, yes, timeout, ...place }: Place & Waiting & { to: string; name?: string }) =>
      run(place, (cluster, io) => move(cluster, { from, to, name, yes: yes ?? false, waitMs: timeout }, io)),
    )
}

function addCommand(root: Command, name: string, summary: string): Command {
  return root
    .command(name)
    .summary(summary)
    .description(summary)
    .option('-n, --namespace <namespace>', 'The namespace; without it, that of the context.', readNamespace)
    .option('--context <name>', 'The context of the kubeconfig.')
    .option('--kubeconfig <file>', 'The kubeconfig; without it, KUBECONFIG or ~/.kube/config.')
}

function addWaiting(command: Command): Command {
  return addTimeout(command).option('-y, --yes', 'Does not ask.')
}

function addTimeout(command: Command): Command {
  return command.addOption(
    new Option('--timeout <duration>', 'How long to wait for eip-admission.')
      .default(30_000, '30s')
      .argParser(readDuration),
  )
}

function readNamespace(text: string): string {
  if (isDnsLabel(text)) return text
  throw new InvalidArgumentError('It is no name of a namespace.')
}

function readDuration(text: string): number {
  const ms = parseDuration(text)
  if (ms !== undefined && ms >= 0 && ms <= 3_600_000) return ms
  throw new InvalidArgumentError('Write a duration up to 1h, such as 30s.')
}
