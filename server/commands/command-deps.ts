/** What a command that runs once needs of the process. */
export type CommandDeps = {
  env: Readonly<Record<string, string | undefined>>
  version: string
  print: (text: string) => void
}
