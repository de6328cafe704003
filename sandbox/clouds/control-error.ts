/** An error of the control API; its message is for the person who sent the command. */
export class ControlError extends Error {
  override readonly name = 'ControlError'
  readonly status: 400 | 404

  constructor(message: string, status: 400 | 404 = 400) {
    super(message)
    this.status = status
  }
}

/** Returns the object with an id, which a command has as a text; throws a ControlError where there is none. */
export function findById<T>(all: Iterable<readonly [unknown, T]>, id: string, kind: string): T {
  for (const [known, one] of all) if (String(known) === id) return one
  throw new ControlError(`no ${kind} has the id "${id}"`, 404)
}
