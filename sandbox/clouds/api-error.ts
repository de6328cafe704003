/** An answer with an error: its status, and its body in the words of the vendor. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly body: object

  constructor(status: number, body: object) {
    super(JSON.stringify(body))
    this.status = status
    this.body = body
  }
}
