/**
 * The port between us and a provider. A vendor's client implements `Cloud`; nothing here knows Kubernetes. Every call
 * takes an AbortSignal and has its own time limit. A read returns undefined if the object does not exist.
 */
import type { IpFamily } from '../../lib/ip-address.ts'

/** The facts that we write on a reservation to recognize it. A vendor's client stores them as tags. */
export type Marks = Record<string, string>

/** An address that the project owns (and pays for). */
export type Reservation = {
  id: string
  /** Undefined until the provider has granted it. */
  address: string | undefined
  /** The prefix length, if the reservation is a network of several addresses. */
  prefixLength?: number
  /** `requested`: not granted yet; `denied`: it will never be granted. */
  state: 'requested' | 'reserved' | 'denied'
  location: string | undefined
  marks: Marks
  /** The holder of the address, such as a machine; undefined if it is assigned to nothing. */
  holder?: string
  /** When it was created or, if the provider does not return that, when we first saw it. */
  createdAt: string | undefined
}

/** A reservation to change, with the marks that were read: if it lacks them now, it is another one with the same id. */
export type Marked = Pick<Reservation, 'id' | 'marks'>

export type ReservationRequest = {
  location: string
  marks: Marks
  /** IPv4 by default. */
  family?: IpFamily
  /** Identifies an order: all attempts of one order get the same address, if the provider supports that. */
  order?: string
}

/** A place where addresses can be reserved. */
export type Location = {
  /** The code that the provider accepts, letter for letter. */
  code: string
  /** The name that people use. */
  name: string
  /** The vendor's word for such a place. */
  kind: string
  /** Other texts that people may write for it. */
  aliases?: string[]
  /** Old names, which we accept with a warning. */
  formerNames?: string[]
}

export type Cloud = {
  readonly name: string
  /** All reservations of the project that have at least these marks, from every page. */
  reservations(marks: Marks, signal: AbortSignal): Promise<Reservation[]>
  reservation(id: string, signal: AbortSignal): Promise<Reservation | undefined>
  /** Whether all attempts of an order get the same address, even while an attempt without an answer is in progress. */
  readonly isReserveIdempotent?: boolean
  /** Buys an address. `CloudError.outcome` is `unknown` if a failed call may have bought one. */
  reserve(request: ReservationRequest, signal: AbortSignal): Promise<Reservation>
  /**
   * Changes these marks and keeps all others; undefined removes one. It does nothing if the reservation is deleted, or
   * if another one has its id now and lacks the caller's marks.
   */
  mark(reservation: Marked, marks: Record<string, string | undefined>, signal: AbortSignal): Promise<void>
  /** Deletes a reservation; success if it is already deleted, or another one has its id now, as in `mark`. */
  release(reservation: Marked, signal: AbortSignal): Promise<void>
  /** The provider's current problems with addresses, by the id of the reservation. Absent if it reports none. */
  problems?(signal: AbortSignal): Promise<ReadonlyMap<string, string>>
  locations(signal: AbortSignal): Promise<Location[]>
}

/**
 * Why a call failed, as far as the caller can act on it:
 * - `auth`: the token or its rights
 * - `quota`, `rate-limit`, `conflict`: the provider refuses the request for now
 * - `invalid`: the same request will never succeed
 * - `unavailable`: a timeout, a reset, a 5xx or an unreadable response
 */
export type Fault = 'auth' | 'quota' | 'rate-limit' | 'conflict' | 'invalid' | 'unavailable'

export class CloudError extends Error {
  override readonly name = 'CloudError'
  readonly fault: Fault
  readonly retryAfterMs: number | undefined
  /** `nothing`: the provider did nothing. `unknown`: it may have executed the call, although it failed for us. */
  readonly outcome: 'nothing' | 'unknown'
  /** The vendor's own code of a refusal, for its client. */
  readonly code: string | undefined

  constructor(
    message: string,
    facts: Pick<CloudError, 'fault' | 'outcome'> & Partial<Pick<CloudError, 'retryAfterMs' | 'code' | 'cause'>>,
  ) {
    super(message, { cause: facts.cause })
    this.fault = facts.fault
    this.outcome = facts.outcome
    this.code = facts.code
    this.retryAfterMs = facts.retryAfterMs
  }
}

/** The error of a later call, after the provider accepted a write: it does not tell the result of that write. */
export function afterWrite(error: unknown, addition = ''): unknown {
  if (!(error instanceof CloudError)) return error
  const { message, fault, retryAfterMs } = error
  return new CloudError(`${message}${addition}`, { fault, outcome: 'unknown', retryAfterMs, cause: error })
}

/** How a dialect marks its reservations: like its predecessor, so that each finds the other's reservations. */
export type MarkScheme = {
  usage: string
  /** How the hashed name of a Service is written: `namespace/name`. */
  separator: '/' | '.'
  /** The separator that another version may have hashed. We find such a reservation, but write none. */
  otherSeparator?: '/' | '.'
  /** The id of the cluster, by default the UID of the namespace kube-system. It distinguishes clusters that share a project. */
  cluster: string
  /** The predecessor wrote no cluster, so a reservation that names none is also ours if its Service is. */
  adoptsUnmarked?: true
}

export type Exchange = {
  call: string
  ms: number
  status: number | undefined
  fault: Fault | undefined
  /** The vendor's own id of the exchange, which its support asks for. */
  cloudRequest: string | undefined
}
