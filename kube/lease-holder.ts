import type { Lease } from './objects.ts'

/** Our processes end their identity with 12 hexadecimal digits; client-go, in which the predecessors are written, with a UUID. */
const ourIdentity = /_[0-9a-f]{12}$/

/** Whether a process of eip-admission has this identity. */
export function isOwnIdentity(identity: string): boolean {
  return ourIdentity.test(identity)
}

/** Whether a lease has a holder now. Clocks may differ, so twice its length is allowed. */
export function isHeld({ spec = {} }: Lease, now: Date): boolean {
  const { holderIdentity = '', renewTime = '', leaseDurationSeconds = 15 } = spec
  return holderIdentity !== '' && now.getTime() - Date.parse(renewTime) < 2_000 * leaseDurationSeconds + 60_000
}
