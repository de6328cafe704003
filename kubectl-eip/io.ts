/** What the plugin needs of the terminal. */
export type Io = {
  print: (text: string) => void
  printError: (text: string) => void
  /** Asks a person, and returns the answer; undefined where nobody can be asked. */
  ask: ((question: string) => Promise<string>) | undefined
}

/** A refusal that a person can act on; its message is all that is printed. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}
