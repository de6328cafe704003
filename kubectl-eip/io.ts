/** What the plugin needs of the terminal. */
export type Io = {
  print: (text: string) => void
  printError: (text: string) => void
  /** Asks a person, and returns the answer; undefined where nobody can be asked. */
  ask: ((question: string) => Promise<string>) | undefined
}

/** The result of a command, for scripts. An error and a refusal exit with 1. */
export const exitCodes = { done: 0, problem: 2, notFound: 3 } as const

/** A refusal that a person can act on; its message is all that is printed. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}
