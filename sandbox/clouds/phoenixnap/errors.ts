/** An error answer: its status, and the texts in its body. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly problems: string[] | undefined

  constructor(status: number, message = texts[status] ?? `error ${status}`, problems?: string[]) {
    super(message)
    this.status = status
    this.problems = problems
  }
}

/** The vendor's texts, from its documentation and its own tests. */
const texts: Record<number, string> = {
  400: 'The request failed due to wrong data. Please check the provided parameters and try again.',
  401: 'The request failed due to invalid credentials. Please check the provided credentials and try again.',
  403: 'The request failed since this resource cannot be accessed by the provided credentials.',
  404: 'The request failed since the resource could not been found.',
  406: 'No IP Blocks available of provided cidr block size.',
  409: 'The resource is in an incompatible state for this request.',
  429: 'Too many requests.',
  500: 'The server encountered an unexpected condition that prevented it from fulfilling the request.',
}

/** Returns the body of an error. */
export function errorBody(status: number, message?: string, problems?: string[]): Record<string, unknown> {
  return {
    message: message ?? texts[status] ?? `error ${status}`,
    ...(problems && { validationErrors: problems }),
  }
}

/** 400, with what is wrong. */
export function invalid(...problems: string[]): ApiError {
  return new ApiError(400, texts[400], problems)
}
