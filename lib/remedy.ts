import { shellWord } from './text.ts'

/** A command line that a person can run, with an optional comment. */
export type Command = { command: string; text?: string }

/** A step that a person can take: a command, or prose in which commands are code spans. */
export type Remedy = string | Command

/** The flags by which a person named a cluster, and a takeover. If one is undefined, programs find the same without it. */
export type CommandFlags = {
  kubeconfig?: string | undefined
  context?: string | undefined
  /** The flags of each takeover command. Without them, it could be another takeover. */
  takeover?: Record<'plan' | 'apply' | 'undo', Record<string, string>>
}

/** A remedy as one line, with commands for the cluster of these flags. */
export function remedyText(remedy: Remedy, flags: CommandFlags = {}): string {
  if (typeof remedy === 'string') return withFlags(remedy, flags)
  const { command, text } = remedy
  return `${flagged(command, flags)}${text === undefined ? '' : `   # ${withFlags(text, flags)}`}`
}

/**
 * The text with commands for the cluster of these flags. Without the flags, the commands would change whichever cluster
 * the person's kubectl currently uses. As in Markdown, a command is a code span or an indented line.
 */
export function withFlags(text: string, flags: CommandFlags): string {
  return text.replaceAll(/(?<=`)[^`\n]+(?=`)|(?<=^ {2,})(?:kubectl|helm|eip-admission|for) .*$/gm, (command) =>
    flagged(command, flags),
  )
}

/** The flags for the kubeconfig in a setting. None if the environment names the same one, which every program finds. */
export function kubeconfigFlags(
  kubeconfig: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): CommandFlags {
  return { kubeconfig: kubeconfig === env['KUBECONFIG'] ? undefined : kubeconfig }
}

/** The places where a shell expects the name of a program. */
const programs =
  /(?<=^|&& |\| |\$\(|; (?:do )?)(kubectl eip [a-z]+|kubectl|helm|eip-admission (?:install|cleanup|doctor|takeover [a-z]+))(?= |$)/g

function flagged(command: string, flags: CommandFlags): string {
  return command.replaceAll(programs, (program: string) =>
    [program, ...flagsOf(program, flags).map(shellWord)].join(' '),
  )
}

function flagsOf(program: string, { kubeconfig, context, takeover }: CommandFlags): string[] {
  const [first, , subcommand] = program.split(' ')
  const ofTakeover = Object.entries(takeover?.[subcommand as keyof typeof takeover] ?? {})
  const others = first === 'eip-admission' ? ofTakeover.map(([flag, value]) => `${flag}=${value}`) : []
  // The command has no flag for a context. To change no other cluster, it names a placeholder that the person must replace.
  if (first === 'eip-admission' && context !== undefined)
    return [`--kubeconfig=<a file with the current context ${context}>`, ...others]
  return [
    ...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]),
    ...(context === undefined ? [] : [`--${first === 'helm' ? 'kube-context' : 'context'}=${context}`]),
    ...others,
  ]
}

/** A remedy that is a command line; a shell comment at its end becomes the text. */
export function shell(strings: TemplateStringsArray, ...values: readonly (string | undefined)[]): Command {
  const [command = '', text] = String.raw({ raw: strings }, ...values).split('   # ')
  return { command, ...(text !== undefined && { text }) }
}

/**
 * The advice for an installation that lacks something. Only `doctor` reads how it was installed. `install` without the
 * original flags would move it to another namespace, and reset what the chart has set.
 */
export const doctorAdvice =
  'run `eip-admission doctor` with the settings and the namespace of serve, which says how to fix it'
