import { type ProgramDeps, program } from '../../commands/program.ts'

const opening = `# Commands

\`eip-admission --help\` prints the commands, and \`--help\` after a command its flags. Arguments
that begin with a flag are those of \`serve\`, as the replaced programs have one command. \`--help=all\` prints every flag, also
those of each cloud. [Settings](settings.md) says more about each flag.
`

/** A program that is only asked for its help texts. */
const deps = { version: '', env: {}, help: { provider: undefined } } as unknown as ProgramDeps

/** The reference page of all commands: their help texts, as the program prints them. */
export function commandsReference(): string {
  const parts = program(deps).commands.map((command) => {
    const help = command.helpInformation().trimEnd()
    return `## ${command.name()}\n\n${command.summary() || command.description()}\n\n\`\`\`text\n${help}\n\`\`\`\n`
  })
  return [opening, ...parts].join('\n')
}
