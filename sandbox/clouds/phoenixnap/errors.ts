import { ApiError } from '../api-error.ts'

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
export function errorBody(status: number, message = texts[status] ?? `error ${status}`): object {
  return { message }
}

/** An error with this text, or the vendor's usual one of its status. */
export function refused(status: number, message?: string): ApiError {
  return new ApiError(status, errorBody(status, message))
}

/** 400, with what is wrong. */
export function invalid(...problems: string[]): ApiError {
  return new ApiError(400, { ...errorBody(400), validationErrors: problems })
}
