/** An error of the control API; its message is for the person who sent the command. */
export class ControlError extends Error {
  override readonly name = 'ControlError'
  readonly status: 400 | 404

  constructor(message: string, status: 400 | 404 = 400) {
    super(message)
    this.status = status
  }
}

/** Returns the object with an id; throws a ControlError where there is none. */
export function findById<Id, T>(all: Map<Id, T>, id: Id, kind: string): T {
  const one = all.get(id)
  if (one === undefined) throw new ControlError(`no ${kind} has the id "${String(id)}"`, 404)
  return one
}
