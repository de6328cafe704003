import { Secret } from '../../lib/secret.ts'

/** A secret that can be exchanged for another while the process runs. Who reveals it gets the one of now. */
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
