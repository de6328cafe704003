/** A command at the control door that cannot be carried out; its message is for the person who typed it. */
export class ControlError extends Error {
  override readonly name = 'ControlError'
  readonly status: 400 | 404

  constructor(message: string, status: 400 | 404 = 400) {
    super(message)
    this.status = status
  }
}
