import { CloudError, type Fault, type Reservation } from './cloud.ts'

/** The errors that a vendor's client itself makes. Each begins with the vendor's name. */
export function vendorErrors(vendor: string) {
  /** The error for a response that lacks what the call requested. */
  const unreadableError = (call: string, what: string, outcome: CloudError['outcome'] = 'nothing') =>
    new CloudError(`${vendor} answered "${call}" with ${what}`, { fault: 'unavailable', outcome })
  /** A refusal of our own: nothing was sent, or the text says what was sent before. */
  const refusal = (text: string, fault: Fault, outcome: CloudError['outcome'] = 'nothing') =>
    new CloudError(`${vendor}: ${text}`, { fault, outcome })
  return {
    unreadableError,
    refusal,
    /** The error for a move of an address that is no longer the caller's. */
    goneError: (id: string) => refusal(`address ${id} cannot be moved: its reservation no longer exists`, 'invalid'),
    /** Returns the object in a response; throws if the response is about another one than the call. */
    requireSameId: <T extends { id: unknown }>(found: T | undefined, id: string, call = 'reservation'): T => {
      if (found?.id !== id) throw unreadableError(call, `another object than ${id}`)
      return found
    },
    /** Throws if a reservation is another project's: a key may read several. Some responses do not name the project. */
    requireProject: (of: string | undefined, project: string, id: string) => {
      if (of !== undefined && of.toLowerCase() !== project.toLowerCase())
        throw refusal(`${id} is a reservation of project ${of}, not of ${project}`, 'invalid')
    },
    /** Throws if something has the address, which may then be in use. */
    requireUnassigned: ({ id, address = id, holder }: Pick<Reservation, 'id' | 'address' | 'holder'>) => {
      if (holder !== undefined)
        throw refusal(`${address} is assigned to ${holder}, so it is not deleted; unassign it`, 'conflict')
    },
  }
}

/** Whether the provider refused a call with one of these faults, and did nothing. */
export function isRefused(error: unknown, faults: readonly Fault[]): error is CloudError {
  return error instanceof CloudError && error.outcome === 'nothing' && faults.includes(error.fault)
}

/** Accepts a refusal if the change was already done. Only the text of a refusal tells that, so the state is read. */
export async function unlessDone(
  change: Promise<unknown>,
  isDone: () => Promise<boolean>,
  faults: readonly Fault[] = ['invalid'],
): Promise<void> {
  try {
    await change
  } catch (error) {
    if (!isRefused(error, faults) || !(await isDone())) throw error
  }
}

/**
 * Accepts a 403, or another of these faults, if the object is deleted. After a successful read, a 403 means a read-only
 * key, or a deletion in between.
 */
export async function unlessGone(
  change: Promise<unknown>,
  isThere: () => Promise<boolean>,
  faults: readonly Fault[] = ['auth'],
): Promise<void> {
  await unlessDone(change, async () => !(await isThere()), faults)
}
