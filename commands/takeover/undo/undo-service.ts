import { metallbPoolAnnotations, unusedPoolName } from '../../../announcers/metallb/names.ts'
import { type Key, type Service, keyOf } from '../../../kube/objects.ts'
import { findUsers } from '../../../ledger/record/address-use.ts'
import { type ElasticIP, claimKey, phaseOf } from '../../../ledger/record/elastic-ip.ts'
import { withdrawingAnnotation, isWrittenByUs, serviceAnnotations } from '../../../ledger/record/names.ts'
import { allRequestAnnotations } from '../../../ledger/users/possible-users.ts'
import { ours as ourFinalizers } from '../../cleanup-changes.ts'

const ourAnnotations = serviceAnnotations.map(({ name }) => name).filter(isWrittenByUs)

/** Whether we serve a Service, or wrote on it. */
export function isMarked({ metadata }: Service): boolean {
  const { finalizers = [], annotations = {} } = metadata
  return (
    ourFinalizers.some((one) => finalizers.includes(one)) ||
    ourAnnotations.some((one) => annotations[one] !== undefined)
  )
}

/**
 * The merge patch that gives a Service back to a predecessor: its finalizer in place of ours, and none of our
 * annotations. The address stays in the spec: without it the predecessor would look for one. Undefined if there is
 * nothing of ours. `isShared`: the Service is being deleted, and another one shows its address. Then it does not get
 * the predecessor's finalizer, because that would delete the reservation.
 */
export function undoPatch(
  service: Service,
  predecessorFinalizers: readonly string[],
  isShared = false,
): object | undefined {
  const { finalizers = [], annotations = {}, deletionTimestamp } = service.metadata
  const ending = isShared ? [...ourFinalizers, ...predecessorFinalizers] : ourFinalizers
  if (!isMarked(service) && !ending.some((one) => finalizers.includes(one))) return undefined
  const isHeld = ourFinalizers.some((one) => finalizers.includes(one))
  const others = finalizers.filter((one) => !ending.includes(one))
  // The API server refuses a new finalizer on an object that is being deleted.
  const added = isHeld && deletionTimestamp === undefined ? predecessorFinalizers : []
  const removed = ourAnnotations.filter((name) => annotations[name] !== undefined)
  // With these annotations we made MetalLB withdraw the address.
  const isWithdrawn = annotations[withdrawingAnnotation] !== undefined
  const withdrawn = metallbPoolAnnotations.filter((name) => isWithdrawn && annotations[name] === unusedPoolName)
  return {
    metadata: {
      resourceVersion: service.metadata.resourceVersion,
      finalizers: [...new Set([...others, ...added])],
      annotations: Object.fromEntries([...removed, ...withdrawn].map((name) => [name, null])),
    },
  }
}

/** The other Services that use the address of a record. Pure. */
export function otherUsers(record: ElasticIP, services: readonly Service[]): Key[] {
  const requestAnnotations = allRequestAnnotations({ annotations: [] })
  const all = { services, records: [], requestAnnotations }
  return findUsers({ address: record.status?.address }, all, { service: claimKey(record), records: [] }).map(
    ({ key }) => key,
  )
}

/** Why no program looks after the reservation of a record; undefined if the predecessor or a live Service has it. Pure. */
export function leavingReason(
  record: ElasticIP,
  services: readonly Service[],
  predecessorFinalizers: readonly string[],
): string | undefined {
  const key = claimKey(record)
  const phase = phaseOf(record)
  const service = services.find((one) => keyOf(one) === key)
  const holder = ['Released', 'Available', 'Releasing'].includes(phase) ? undefined : service
  const { finalizers = [], deletionTimestamp } = holder?.metadata ?? {}
  const isReleased = predecessorFinalizers.some((one) => finalizers.includes(one))
  if (holder && (deletionTimestamp === undefined || isReleased)) return undefined
  const users = otherUsers(record, services)
  if (users.length > 0) return `Service ${users.join(', ')} shows its address: keep it`
  if (holder) return `Service ${key} is being deleted`
  if (phase === 'Bound' && key !== undefined) return `Service ${key} no longer exists`
  const deletion = ', and its deletion was requested: the provider may no longer have it'
  return `ElasticIP ${record.metadata.name} was ${phase}${record.status?.deletionRequestedAt === undefined ? '' : deletion}`
}
