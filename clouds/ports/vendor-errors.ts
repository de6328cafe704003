import { CloudError, type Fault } from './cloud.ts'

/** The errors that a vendor's client itself makes. Each begins with the vendor's name. */
export function vendorErrors(vendor: string) {
  /** The error for a response that lacks what the call requested. */
  const unreadableError = (call: string, what: string, outcome: CloudError['outcome'] = 'nothing') =>
    new CloudError(`${vendor} answered "${call}" with ${what}`, { fault: 'unavailable', outcome })
  return {
    unreadableError,
    /** Throws if a response is about another object than the call. */
    requireSameId: (found: { id: unknown }, id: string, call = 'reservation') => {
      if (found.id !== id) throw unreadableError(call, `another object than ${id}`)
    },
    /** A refusal of our own: nothing was sent, or the text says what was sent before. */
    refusal: (text: string, fault: Fault, outcome: CloudError['outcome'] = 'nothing') =>
      new CloudError(`${vendor}: ${text}`, { fault, outcome }),
  }
}

/** Whether the provider refused a call as invalid, and did nothing. */
export function isRefused(error: unknown): boolean {
  return error instanceof CloudError && error.fault === 'invalid' && error.outcome === 'nothing'
}

/** Accepts a refusal if the change was already done. A refusal says so only in its text, so the state is read. */
export async function unlessDone(change: Promise<unknown>, isDone: () => Promise<boolean>): Promise<void> {
  try {
    await change
  } catch (error) {
    if (!isRefused(error) || !(await isDone())) throw error
  }
}

/** Accepts a 403 if the object is deleted. After a successful read, a 403 means a read-only key, or a deletion in between. */
export async function unlessGone(change: Promise<unknown>, isThere: () => Promise<boolean>): Promise<void> {
  try {
    await change
  } catch (error) {
    const isForbidden = error instanceof CloudError && error.fault === 'auth'
    if (!isForbidden || (await isThere())) throw error
  }
}
