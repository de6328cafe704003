import { shellWord } from '../../../lib/shell-word.ts'

/** The flags that a person gave to a command of a takeover, besides that of the cluster. */
export type GivenFlags = {
  /** Flags of `serve`. */
  flags: Record<string, string>
  /** Flags that only `apply` takes. */
  ofApply?: Record<string, string>
}

const commands = /\beip-admission takeover (plan|apply|undo)(?![\w-])/g

/** The text with takeover commands that have the same flags. Without them they could mean another takeover. */
export function carryFlags(text: string, { flags, ofApply = {} }: GivenFlags): string {
  const { '--namespace': namespace } = flags
  // `undo` takes no other flag of `serve`.
  const ofUndo = namespace === undefined ? {} : { '--namespace': namespace }
  const words = { plan: wordsOf(flags), apply: wordsOf({ ...flags, ...ofApply }), undo: wordsOf(ofUndo) }
  return text.replaceAll(commands, (line, command: keyof typeof words) => `${line}${words[command]}`)
}

/** Flags as a shell reads them back. */
function wordsOf(flags: Record<string, string>): string {
  return Object.entries(flags)
    .map(([flag, value]) => ` ${shellWord(`${flag}=${value}`)}`)
    .join('')
}
