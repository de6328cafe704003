import type { VendorHttp, VendorHttpOptions, VendorResponse } from '../../http/client.ts'
import { vendorHttp } from '../../http/client.ts'
import type { VendorCall } from '../../http/request.ts'
import { tokensOf } from './token.ts'

export type TokenHttpOptions = {
  api: Omit<VendorHttpOptions, 'headers'>
  exchange: VendorHttpOptions
  now: () => number
}

/**
 * An HTTP client whose calls carry a token of now. After a 401 a call is sent once more with another token, because the
 * API refuses a token before it does anything.
 */
export function tokenHttp({ api, exchange, now }: TokenHttpOptions): VendorHttp {
  const tokens = tokensOf(vendorHttp(exchange), now)
  let bearer = ''
  const http = vendorHttp({ ...api, headers: () => ({ authorization: `Bearer ${bearer}` }) })

  // The client reads the headers before its first await, so each call has the token that it was given.
  const send = (call: VendorCall, token: { reveal(): string }, signal: AbortSignal): Promise<VendorResponse> => {
    bearer = token.reveal()
    return http.call(call, signal)
  }
  return {
    async call(call, signal) {
      const token = await tokens.current(signal)
      const first = await send({ ...call, accept: [...(call.accept ?? []), 401] }, token, signal)
      return first.status === 401 ? send(call, await tokens.renewed(token, signal), signal) : first
    },
  }
}
