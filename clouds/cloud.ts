/**
 * The port between us and a cloud. A vendor's client implements `Cloud`; nothing here knows Kubernetes.
 * Every call takes an AbortSignal and has a time-out of its own; a read answers undefined for "does not exist".
 */

/** What we write on a reservation to know it again, in words that no vendor chose. */
export type Marks = Record<string, string>

/** An address that the project owns (and pays for). */
export type Reservation = {
  id: string
  /** Absent until the cloud has granted it. */
  address: string | undefined
  /** `requested`: asked for, not granted yet; `denied`: it never will be. */
  state: 'requested' | 'reserved' | 'denied'
  location: string | undefined
  marks: Marks
  /** When it was made or, where the cloud does not say that, when it was first seen. */
  createdAt: string | undefined
}

export type ReservationRequest = { location: string; marks: Marks }

/** A place where addresses can be reserved. */
export type Location = {
  /** What the cloud takes, letter for letter. */
  code: string
  /** What people know it by. */
  name: string
  /** What the vendor calls such a place. */
  kind: string
  /** What else people may write for it. */
  aliases?: string[]
  /** What it was called before: understood, and not to be used any more. */
  formerNames?: string[]
}

export type Cloud = {
  /** The vendor's name, for people. */
  readonly name: string
  /** All reservations of the project that carry at least these marks, every page of them. */
  reservations(marks: Marks, signal: AbortSignal): Promise<Reservation[]>
  reservation(id: string, signal: AbortSignal): Promise<Reservation | undefined>
  /** Buys an address. Not idempotent: `CloudError.outcome` says whether a failed call may have bought one. */
  reserve(request: ReservationRequest, signal: AbortSignal): Promise<Reservation>
  /** Changes these marks and leaves all others; undefined takes one off. A reservation that is gone is no error. */
  mark(id: string, marks: Record<string, string | undefined>, signal: AbortSignal): Promise<void>
  /** Gives an address back; one that is gone already is success. */
  release(id: string, signal: AbortSignal): Promise<void>
  locations(signal: AbortSignal): Promise<Location[]>
}

/**
 * Why a call failed, as far as the caller can act on it: `auth` (token or rights), `quota`, `rate-limit`, `conflict`,
 * `invalid` (the request will never do), `unavailable` (time-out, reset, 5xx, unreadable answer).
 */
export type Fault = 'auth' | 'quota' | 'rate-limit' | 'conflict' | 'invalid' | 'unavailable'

export class CloudError extends Error {
  override readonly name = 'CloudError'
  readonly fault: Fault
  readonly retryAfterMs: number | undefined
  /** `nothing`: the cloud did nothing. `unknown`: it may have carried the call out although we saw it fail. */
  readonly outcome: 'nothing' | 'unknown'

  constructor(
    message: string,
    facts: { fault: Fault; outcome: 'nothing' | 'unknown'; retryAfterMs?: number | undefined; cause?: unknown },
  ) {
    super(message, { cause: facts.cause })
    this.fault = facts.fault
    this.outcome = facts.outcome
    this.retryAfterMs = facts.retryAfterMs
  }
}
