/**
 * The port between us and a cloud. A vendor's client implements `Cloud`; nothing here knows Kubernetes. Every call takes
 * an AbortSignal and has its own time limit. A read returns undefined if the object does not exist.
 */
import type { IpFamily } from '../../lib/ip-address.ts'

/** The facts that we write on a reservation to recognize it. A vendor's client stores them as tags. */
export type Marks = Record<string, string>

/** An address that the project owns (and pays for). */
export type Reservation = {
  id: string
  /** Undefined until the cloud has granted it. */
  address: string | undefined
  /** The length of the prefix where the reservation is a network of several addresses. */
  prefixLength?: number
  /** `requested`: not granted yet; `denied`: it will never be granted. */
  state: 'requested' | 'reserved' | 'denied'
  location: string | undefined
  marks: Marks
  /** The holder of the address, such as a machine; undefined where it is assigned to nothing. */
  holder?: string
  /** When it was created or, if the cloud does not return that, when we saw it first. */
  createdAt: string | undefined
}

/** A reservation to change, with its marks as they were read: one that lacks them now is another with the same id. */
export type Marked = Pick<Reservation, 'id' | 'marks'>

export type ReservationRequest = {
  location: string
  marks: Marks
  /** IPv4, unless it is named. */
  family?: IpFamily
  /** Tells one order from another: all attempts of one order get one address, where the cloud can do that. */
  order?: string
}

/** A place where addresses can be reserved. */
export type Location = {
  /** The code that the cloud accepts, letter for letter. */
  code: string
  /** The name that people use. */
  name: string
  /** The vendor's word for such a place. */
  kind: string
  /** Other texts that people may write for it. */
  aliases?: string[]
  /** Old names: we understand them, with a warning. */
  formerNames?: string[]
}

export type Cloud = {
  readonly name: string
  /** All reservations of the project that have at least these marks, from every page. */
  reservations(marks: Marks, signal: AbortSignal): Promise<Reservation[]>
  reservation(id: string, signal: AbortSignal): Promise<Reservation | undefined>
  /** Whether all attempts of one order get one address, also while an earlier attempt without an answer is carried out. */
  readonly isReserveIdempotent?: boolean
  /** Buys an address. `CloudError.outcome` is `unknown` if a failed call may have bought one. */
  reserve(request: ReservationRequest, signal: AbortSignal): Promise<Reservation>
  /**
   * Changes these marks and keeps all others; undefined removes one. It does nothing if the reservation is deleted. The
   * same where another one has its id now, and lacks the marks that the caller names.
   */
  mark(reservation: Marked, marks: Record<string, string | undefined>, signal: AbortSignal): Promise<void>
  /** Deletes a reservation; success if it is already deleted, or if another one has its id now, as in `mark`. */
  release(reservation: Marked, signal: AbortSignal): Promise<void>
  /** The cloud's current problems of addresses, by the id of the reservation. Absent where the cloud reports none. */
  problems?(signal: AbortSignal): Promise<ReadonlyMap<string, string>>
  locations(signal: AbortSignal): Promise<Location[]>
}

/**
 * Why a call failed, as far as the caller can act on it:
 * - `auth`: the token or its rights
 * - `quota`, `rate-limit`, `conflict`: the cloud's answer to the request now
 * - `invalid`: the same request will never succeed
 * - `unavailable`: a timeout, a reset, a 5xx or an unreadable response
 */
export type Fault = 'auth' | 'quota' | 'rate-limit' | 'conflict' | 'invalid' | 'unavailable'

export class CloudError extends Error {
  override readonly name = 'CloudError'
  readonly fault: Fault
  readonly retryAfterMs: number | undefined
  /** `nothing`: the cloud did nothing. `unknown`: it may have carried the call out although it failed for us. */
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

/** The error of a later call, after a write that the cloud has accepted: it does not say what came of that write. */
export function afterWrite(error: unknown, addition = ''): unknown {
  if (!(error instanceof CloudError)) return error
  const { message, fault, retryAfterMs } = error
  return new CloudError(`${message}${addition}`, { fault, outcome: 'unknown', retryAfterMs, cause: error })
}

/** How a dialect marks its reservations: in its predecessor's words, so that we find its reservations, and it ours. */
export type MarkScheme = {
  usage: string
  /** The hashed part of a Service: `namespace/name`. */
  separator: '/' | '.'
  /** The separator that another version may have hashed: we find such a reservation, and write none. */
  otherSeparator?: '/' | '.'
  /** The id of the cluster, by default the UID of the namespace kube-system: it tells clusters apart that share a project. */
  cluster: string
  /** The predecessor wrote no cluster: a reservation that names none is also ours, if its Service is. */
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
