import type { Command } from 'commander'

export const shells = ['bash', 'zsh', 'fish'] as const

export type Shell = (typeof shells)[number]

/** The script by which a shell completes the commands and flags of the program. */
export function completionScript(root: Command, shell: Shell): string {
  const places = placesOf(root, [])
  const bash = bashScript(root.name(), places)
  if (shell === 'fish') return fishScript(root.name(), places)
  return shell === 'bash' ? bash : `autoload -U +X bashcompinit && bashcompinit\n${bash}`
}

/** The words of a command, and what may follow them. */
type Place = { words: string[]; commands: readonly Command[]; flags: { name: string; meaning: string }[] }

/** A command stands after those below it: the first that fits decides. */
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
