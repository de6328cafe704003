import { untilAborted } from '../../lib/time-limit.ts'
import { Secret } from '../../lib/secret.ts'
import { CloudError } from '../ports/cloud.ts'
import type { VendorHttp } from './client.ts'
import { countOf, fieldsOf, textOf } from './loose-json.ts'
import type { Sender, VendorCall } from './request.ts'

/** Credentials in the form of a token that is fetched and expires, as options of `vendorHttp`. */
export type TokenCredentials = Required<Pick<Sender, 'headers' | 'renew'>>

export type TokenOptions = {
  vendor: string
  /** The client of the service that grants tokens. */
  http: VendorHttp
  call: VendorCall
  /** The secret for which the token is granted. After a rotation, the previous token is no longer used. */
  basis: () => string
  /** A monotonic clock in milliseconds. */
  now?: (() => number) | undefined
}

type Granted = { token: Secret; basis: string; endsAtMs: number }

/** We treat a token as expired this much earlier, because a call that begins with it may take a while. */
const marginMs = 60_000

/** The assumed validity of a token if the answer does not state it. */
const usualSeconds = 300

/** Short-lived tokens as granted by OAuth. A token is fetched only when a call needs it, and callers share one request. */
export function tokenCredentials(options: TokenOptions): TokenCredentials {
  const { basis, now = () => performance.now() } = options
  let known: Granted | undefined
  let fetching: { basis: string; granted: Promise<Granted> } | undefined

  const fetch = (of: string): Promise<Granted> => {
    if (fetching?.basis === of) return fetching.granted
    const granted = fetchToken({ ...options, now }, of)
      .then((one) => (known = one))
      .finally(() => {
        if (fetching?.granted === granted) fetching = undefined
      })
    fetching = { basis: of, granted }
    return granted
  }
  return {
    async headers(signal) {
      const of = basis()
      const isValid = known !== undefined && known.basis === of && now() < known.endsAtMs
      return bearer(isValid && known ? known : await untilAborted(fetch(of), signal))
    },
    renew(refused) {
      // If several calls were refused at once, the later ones use the token that the first of them fetched.
      if (known && bearer(known).authorization === refused['authorization']) known = undefined
    },
  }
}

function bearer({ token }: Granted): { authorization: string } {
  return { authorization: `Bearer ${token.reveal()}` }
}

async function fetchToken(
  { vendor, http, call, now }: TokenOptions & { now: () => number },
  basis: string,
): Promise<Granted> {
  const sentAtMs = now()
  // No caller's signal ends it, because others wait for the same token. The call has its own time limit.
  const { signal } = new AbortController()
  const { body } = await http.call({ ...call, isRead: true, secrets: [basis] }, signal)
  const { access_token, expires_in } = fieldsOf(body)
  const token = textOf(access_token)
  if (token === undefined) {
    const message = `${vendor} answered "${call.name}" without a token`
    throw new CloudError(message, { fault: 'unavailable', outcome: 'nothing' })
  }
  const lifeMs = Math.max(0, countOf(expires_in) ?? usualSeconds) * 1000
  return { token: new Secret(token), basis, endsAtMs: sentAtMs + lifeMs - Math.min(marginMs, lifeMs / 2) }
}
