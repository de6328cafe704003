import { inspect } from 'node:util'

const redacted = '[redacted]'

/** A text that no log, error, JSON or template can print; only `reveal()` returns it. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The text itself, only for code that must send it. */
  reveal(): string {
    return this.#text
  }

  toString(): string {
    return redacted
  }

  toJSON(): string {
    return redacted
  }

  [inspect.custom](): string {
    return redacted
  }
}

/** A secret that can be replaced while the process runs. `reveal()` returns the current one. */
export class ReplaceableSecret extends Secret {
  #current: Secret

  constructor(first: Secret) {
    super('')
    this.#current = first
  }

  override reveal(): string {
    return this.#current.reveal()
  }

  replace(next: Secret): void {
    this.#current = next
  }
}
