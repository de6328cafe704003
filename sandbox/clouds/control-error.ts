/** A command at the control door that cannot be carried out; its message is for the person who typed it. */
export class ControlError extends Error {
  override readonly name = 'ControlError'
  readonly status: 400 | 404

  constructor(message: string, status: 400 | 404 = 400) {
    super(message)
    this.status = status
  }
}

/** What has an id, for a command that names it. */
export function found<Id, T>(all: Map<Id, T>, id: Id, kind: string): T {
  const one = all.get(id)
  if (one === undefined) throw new ControlError(`no ${kind} has the id "${String(id)}"`, 404)
  return one
}
