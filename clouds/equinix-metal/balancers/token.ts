import { untilAborted } from '../../../lib/until-aborted.ts'
import { CloudError } from '../../ports/cloud.ts'
import type { VendorHttp } from '../../http/client.ts'
import { countOf, fieldsOf, textOf } from '../../http/loose-json.ts'
import { Secret } from '../../../lib/secret.ts'

/** Short-lived tokens for the API of load balancers, exchanged for the API key. */
export type Tokens = {
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
export function tokensOf(http: VendorHttp, now: () => number): Tokens {
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
