import { metallbPoolAnnotations, unusedPoolName } from '../../../announcers/metallb/names.ts'
import { type Key, type Service, keyOf } from '../../../kube/objects.ts'
import { shownAddresses } from '../../../ledger/record/shown.ts'
import { type ElasticIP, claimKey } from '../../../ledger/record/elastic-ip.ts'
import {
  balancerFinalizer,
  serviceFinalizer,
  withdrawingAnnotation,
  isWrittenByUs,
  serviceAnnotations,
} from '../../../ledger/record/names.ts'
import { canonicalIpAddress } from '../../../lib/ip-address.ts'
import { allRequestAnnotations } from '../../../ledger/users/possible-users.ts'

const ourFinalizers = [serviceFinalizer, balancerFinalizer]
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

/** The other Services that show the address of a Service under deletion, for which the reservation must be kept. */
export function sharersOf(service: Service, seen: { services: Service[]; records: ElasticIP[] }): Key[] {
  if (service.metadata.deletionTimestamp === undefined) return []
  const key = keyOf(service)
  const held = seen.records.filter((record) => claimKey(record) === key).map(({ status }) => status?.address)
  const named = [...held, service.spec.loadBalancerIP].map((one) => one && canonicalIpAddress(one))
  const addresses = new Set([...named, ...addressesOf(service)])
  const others = seen.services.filter((other) => keyOf(other) !== key)
  return others.filter((other) => addressesOf(other).some((address) => addresses.has(address))).map(keyOf)
}

function addressesOf(service: Service): string[] {
  return shownAddresses(service, allRequestAnnotations({ annotations: [] })).map(({ address }) => address)
}

/** Whether a Service under deletion would leave its reservation behind, because only we would have released it. */
export function leavesReservation(service: Service, predecessorFinalizers: readonly string[]): boolean {
  const { finalizers = [], deletionTimestamp } = service.metadata
  return (
    deletionTimestamp !== undefined &&
    finalizers.includes(serviceFinalizer) &&
    !predecessorFinalizers.some((one) => finalizers.includes(one))
  )
}
