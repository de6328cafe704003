import { type ProgramDeps, program } from '../../commands/program.ts'

const opening = `# Commands

\`eip-admission --help\` lists the commands, and \`--help\` after a command lists its flags. \`--help=all\` lists every flag,
including those of each provider. Without a command, \`eip-admission\` runs \`serve\`, as the replaced programs did.
[Settings](settings.md) explains each flag.
`

/** The dependencies of a program that only prints its help texts. */
const deps = { version: '', env: {}, help: { provider: undefined } } as unknown as ProgramDeps

type Command = ReturnType<typeof program>

/** Each command, followed by its subcommands. */
function sections({ commands }: Command, outer = ''): { words: string; command: Command }[] {
  return commands.flatMap((command) => {
    const words = `${outer}${command.name()}`
    return [{ words, command }, ...sections(command, `${words} `)]
  })
}

/** The reference page of all commands: their help texts, as the program prints them. */
export function commandsReference(): string {
  const parts = sections(program(deps)).map(({ words, command }) => {
    const help = command.helpInformation().trimEnd()
    return `## ${words}\n\n${command.summary() || command.description()}\n\n\`\`\`text\n${help}\n\`\`\`\n`
  })
  return [opening, ...parts].join('\n')
}
