import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { connect } from '../kube/connect.ts'
import { kubeconfig } from '../kube/kubeconfig.ts'
import { serverFacts } from '../kube/server-facts.ts'
import { withFlags } from '../lib/remedy.ts'
import { isDnsLabel } from '../lib/names.ts'
import { parseDuration } from '../lib/duration.ts'
import { plainText } from '../lib/text.ts'
import { adopt } from './adopt.ts'
import { complete } from './complete.ts'
import { type Io, Refusal, exitCodes, type OutputFormat, outputFormats } from './io.ts'
import { type ListOptions, formats, list } from './list.ts'
import { move } from './move.ts'
import type { Cluster } from './reader.ts'
import { release } from './release.ts'
import { status } from './status.ts'
import { why } from './why.ts'

export type PluginDeps = Io & {
  version: string
  env?: Readonly<Record<string, string | undefined>>
  /** Shows the current activity on a terminal. */
  progress?: ((text: string) => void) | undefined
}

type Place = { kubeconfig?: string; context?: string; namespace?: string }
type WithOutput = { output?: OutputFormat }
type Waiting = { yes?: true; timeout: number }

/** Runs a command line of `kubectl eip`, without the name of the program, and returns the exit code. */
export async function runPlugin(args: readonly string[], deps: PluginDeps): Promise<number> {
  try {
    const ended: { code: number } = { code: exitCodes.done }
    const root = program(deps, ended)
    if (args[0] === '__complete')
      await complete(args.slice(1), {
        commands: root.commands,
        cluster: (place) => clusterOf(place, deps.version),
        print: deps.print,
      })
    else await root.parseAsync([...args], { from: 'user' })
    return ended.code
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
  const userAgent = `kubectl-eip/${version}`
  const client = connect(credentials, { userAgent })
  const serverTime = async () => {
    // A cluster may hide this from a person, whose own clock is the next best.
    const { clockAheadMs } = await serverFacts(credentials, userAgent).catch(() => ({ clockAheadMs: 0 }))
    return new Date(Date.now() + clockAheadMs)
  }
  const inContext = async () => (await credentials.current()).namespace ?? 'default'
  return { client, namespace: namespace ?? (await inContext()), now: new Date(), serverTime }
}

/** The work of a command, which may return its own exit code. */
type Work = (cluster: Cluster, io: Io) => Promise<number | void>

type Run = (place: Place, work: Work) => Promise<void>

/**
 * Runs the work of a command on the cluster that a person means. Commands in its output get flags for the same cluster.
 */
function commandRunner(deps: PluginDeps, ended: { code: number }): Run {
  return async (place, work) => {
    const carry = (text: string) => withFlags(text, place)
    const { print, printError, ask } = deps
    const io = {
      print: (text: string) => print(carry(text)),
      printError: (text: string) => printError(carry(text)),
      ask,
    }
    try {
      ended.code = (await work(await clusterOf(place, deps.version), io)) ?? exitCodes.done
    } catch (error) {
      throw error instanceof Refusal ? new Refusal(carry(error.message)) : error
    }
  }
}

function program(deps: PluginDeps, ended: { code: number }): Command {
  const { print, printError, version } = deps
  const root = new Command('kubectl eip')
    .description(
      'Public addresses of Services, as eip-admission keeps them. It uses your kubeconfig and your rights. Only `doctor` ' +
        'calls the provider.',
    )
    .exitOverride()
    .configureOutput({ writeOut: print, writeErr: printError, getOutHelpWidth: () => 100, getErrHelpWidth: () => 100 })
    .version(version, '--version', 'Prints the version.')
    .helpOption('-h, --help', 'Prints this help text.')
    .helpCommand('help [command]', 'Prints the help text of a command.')
    .showHelpAfterError('kubectl eip --help lists the commands.')
    .addHelpText('after', exitText)
  const run = commandRunner(deps, ended)

  addWhy(root, run)
  addList(root, run, deps)
  addStatus(root, run)
  addDoctor(root, deps, ended)
  addRelease(root, run)
  addAdopt(root, run)
  addMove(root, run)
  return root
}

function addWhy(root: Command, run: Run): void {
  addOutput(addCommand(root, 'why <service>', 'Shows where the address of a Service comes from, or why it has none.'))
    .addHelpText('after', examples('why web', 'why shop/web -o json'))
    .action((service: string, { output, ...place }: Place & WithOutput) =>
      run(place, (cluster, io) => why(cluster, { service, output }, io)),
    )
}

function addList(root: Command, run: Run, deps: PluginDeps): void {
  addCommand(root, 'list', 'Lists the addresses of a namespace, and those that its Services may claim.')
    .option('-A, --all-namespaces', 'Lists the addresses of the whole cluster.')
    .addOption(new Option('-o, --output <format>', 'How to print them.').choices(formats))
    .addHelpText('after', examples('list -n shop', 'list -A -o wide'))
    .action(({ allNamespaces = false, output, ...place }: Place & Partial<ListOptions>) =>
      // Prints the stored objects unchanged.
      run(place, (cluster) => list(cluster, { allNamespaces, output }, deps)),
    )
}

function addStatus(root: Command, run: Run): void {
  addOutput(
    addCommand(root, 'status', 'Shows how many addresses there are, what waits, and whether eip-admission works.'),
  )
    .addHelpText('after', examples('status', 'status -o json', 'status -o name   # the ElasticIPs that are not ready'))
    .action(({ output, ...place }: Place & WithOutput) => run(place, (cluster, io) => status(cluster, { output }, io)))
}

function addDoctor(root: Command, deps: PluginDeps, ended: { code: number }): void {
  addCommand(root, 'doctor', 'Checks the cluster and the provider, and changes nothing.')
    .description(
      'Checks the cluster and the provider, and says what is wrong, why, and which command fixes it. It changes nothing. ' +
        'It reads the Deployment of eip-admission and the Secrets that it names, and calls the provider with that token.',
    )
    .addOption(new Option('-o, --output <format>', 'How to print it.').choices(['text', 'json']).default('text'))
    .addHelpText('after', examples('doctor', 'doctor -o json'))
    .action(async ({ output, ...place }: Place & { output: 'text' | 'json' }) => {
      const { kubeconfig: file, context } = place
      const { print, version, progress, env = {} } = deps
      const { doctor } = await import('../commands/doctor/doctor.ts')
      ended.code = await doctor(
        { output, allowUnknown: false, flags: {} },
        {
          env,
          version,
          print,
          signal: new AbortController().signal,
          endAtOnce() {},
          ...(progress && { progress }),
          cluster: { credentials: kubeconfig({ file, context }), flags: place },
        },
      )
    })
}

function addRelease(root: Command, run: Run): void {
  addWaiting(addCommand(root, 'release <name>', 'Releases a kept address.'))
    .description(
      'Releases a kept address. NAME is its ElasticIP, the address, or the Service that it is kept for, also as ' +
        'NAMESPACE/NAME. It refuses an address that a Service has.',
    )
    .addHelpText('after', examples('release shop/web', 'release 203.0.113.99 --yes'))
    .action((name: string, { yes, timeout, ...place }: Place & Waiting) =>
      run(place, (cluster, io) => release(cluster, { name, yes: yes ?? false, waitMs: timeout }, io)),
    )
}

function addAdopt(root: Command, run: Run): void {
  addTimeout(addCommand(root, 'adopt <reservation>', 'Makes an address of the project available.'))
    .description(
      'Makes an address of the project available: writes an ElasticIP for RESERVATION, which is the id ' +
        'that the provider gave it.',
    )
    .option('--name <name>', 'The name of the ElasticIP.')
    .option('--service <service>', 'The one Service that may have the address: NAME or NAMESPACE/NAME.')
    .addHelpText('after', examples('adopt 4a239171-e254-434b-991f-701540be5e36 --name office --service shop/web'))
    .option(
      '--allow <namespace...>',
      'The namespaces whose Services may have the address; without it, all.',
      (text: string, before: string[] | undefined) => [...(before ?? []), readNamespace(text)],
    )
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
  addWaiting(addCommand(root, 'move <from>', 'Moves an address that no Service has to another Service.'))
    .description(
      'Moves an address that no Service has to another Service. FROM is its ElasticIP, the address, or the ' +
        'Service that it is kept for, also as NAMESPACE/NAME.\n\nAn address that a Service has cannot move: two Services ' +
        'would show it for a while, and a Service cannot change its address. Then this refuses, and prints the steps ' +
        'in the safe order.',
    )
    .requiredOption('--to <service>', 'The Service that may have the address: NAME or NAMESPACE/NAME.')
    .option('--name <name>', 'The name of a new ElasticIP, where one is needed.')
    .addHelpText('after', examples('move shop/old --to shop/new'))
    .action((from: string, { to, name, yes, timeout, ...place }: Place & Waiting & { to: string; name?: string }) =>
      run(place, (cluster, io) => move(cluster, { from, to, name, yes: yes ?? false, waitMs: timeout }, io)),
    )
}

function addCommand(root: Command, name: string, summary: string): Command {
  return root
    .command(name)
    .summary(summary)
    .description(summary)
    .option('-n, --namespace <namespace>', 'The namespace. Default: the one of the context.', readNamespace)
    .option('--context <name>', 'The context of the kubeconfig.')
    .option('--kubeconfig <file>', 'The kubeconfig. Default: KUBECONFIG or ~/.kube/config.')
}

function addOutput(command: Command): Command {
  return command.addOption(new Option('-o, --output <format>', 'How to print it, for scripts.').choices(outputFormats))
}

function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  kubectl eip ${line}\n`).join('')}`
}

const exitText = `
Exit codes:
  0  done; why: the Service has its address, or needs none
  1  an error, a refusal, or a missing right; doctor: an error was found
  2  why: the Service waits for its address; status: no process leads, or the webhooks are not called;
     doctor: something could not be checked
  3  why: there is no such Service
`

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
  throw new InvalidArgumentError('This is not a valid name of a namespace.')
}

function readDuration(text: string): number {
  const ms = parseDuration(text)
  if (ms !== undefined && ms >= 0 && ms <= 3_600_000) return ms
  throw new InvalidArgumentError('Write a duration up to 1h, such as 30s.')
}
