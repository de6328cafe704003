import { untilAborted } from '../../../lib/until-aborted.ts'
import { CloudError } from '../../ports/cloud.ts'
import { type VendorHttp, type VendorHttpOptions, type VendorResponse, vendorHttp } from '../../http/client.ts'
import type { VendorCall } from '../../http/request.ts'
import { countOf, fieldsOf, textOf } from '../../http/loose-json.ts'
import { Secret } from '../../../lib/secret.ts'

type TokenHttpOptions = {
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

/** Short-lived tokens for the API of load balancers, exchanged for the API key. */
type Tokens = {
  /** The token of now, from an exchange that all callers share. */
  current(signal: AbortSignal): Promise<Secret>
  /** Another token than this one, which the API refused. Callers whom it refused at the same time get the same one. */
  renewed(refused: Secret, signal: AbortSignal): Promise<Secret>
}

type Exchanged = { token: Secret; endsAtMs: number }

/** A token ends early for us: a call that begins with it may take a while. */
const marginMs = 60_000

/** What we assume where the answer does not say how long a token holds. */
const usualSeconds = 300

/** The tokens of an API key. `now` is a monotonic clock in milliseconds. */
function tokensOf(http: VendorHttp, now: () => number): Tokens {
  let known: Exchanged | undefined
  let exchanging: Promise<Exchanged> | undefined

  const exchange = () => {
    exchanging ??= exchangeKey(http, now)
      .then((exchanged) => (known = exchanged))
      .finally(() => (exchanging = undefined))
    return exchanging
  }
  const current: Tokens['current'] = async (signal) => {
    if (known && now() < known.endsAtMs) return known.token
    return (await untilAborted(exchange(), signal)).token
  }
  return {
    current,
    renewed(refused, signal) {
      if (known?.token === refused) known = undefined
      return current(signal)
    },
  }
}

async function exchangeKey(http: VendorHttp, now: () => number): Promise<Exchanged> {
  const sentAtMs = now()
  // No caller's signal ends it: others wait for the same token. The call has its own time limit.
  const { signal } = new AbortController()
  const { body } = await http.call({ name: 'exchange-token', method: 'POST', path: ['api-keys', 'exchange'] }, signal)
  const { access_token, expires_in } = fieldsOf(body)
  const token = textOf(access_token)
  if (token === undefined) {
    const message = 'Equinix Metal exchanged the API key for an answer without a token'
    throw new CloudError(message, { fault: 'unavailable', outcome: 'nothing' })
  }
  const lifeMs = Math.max(0, countOf(expires_in) ?? usualSeconds) * 1000
  return { token: new Secret(token), endsAtMs: sentAtMs + lifeMs - Math.min(marginMs, lifeMs / 2) }
}
