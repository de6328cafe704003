/** What a command that runs once needs of the process. */
export type CommandDeps = { version: string; print: (text: string) => void }
