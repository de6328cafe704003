import { unusedPoolName } from '../../../announcers/metallb/unused-pool-name.ts'
import { metallbPoolAnnotations } from '../../../announcers/request-annotations.ts'
import type { Service } from '../../../kube/objects.ts'
import {
  addressAnnotation,
  balancerFinalizer,
  balancerRequestAnnotation,
  serviceFinalizer,
  withdrawingAnnotation,
} from '../../../ledger/record/names.ts'

const ourFinalizers = [serviceFinalizer, balancerFinalizer]
const ourAnnotations = [addressAnnotation, withdrawingAnnotation, balancerRequestAnnotation]

/** Whether we serve a Service, or wrote on it. */
export function isMarked({ metadata }: Service): boolean {
  const { finalizers = [], annotations = {} } = metadata
  return (
    ourFinalizers.some((one) => finalizers.includes(one)) ||
    ourAnnotations.some((one) => annotations[one] !== undefined)
  )
}

/**
 * The merge patch that gives a Service back to a predecessor: its finalizer in place of ours, and none of our annotations.
 * The address stays in spec: without it the predecessor would look for one. Undefined if there is nothing of ours.
 */
export function undoPatch(service: Service, predecessorFinalizers: readonly string[]): object | undefined {
  if (!isMarked(service)) return undefined
  const { finalizers = [], annotations = {}, deletionTimestamp } = service.metadata
  const isHeld = ourFinalizers.some((one) => finalizers.includes(one))
  const others = finalizers.filter((one) => !ourFinalizers.includes(one))
  // The API server refuses a new finalizer on an object that is being deleted.
  const added = isHeld && deletionTimestamp === undefined ? predecessorFinalizers : []
  const removed = ourAnnotations.filter((name) => annotations[name] !== undefined)
  const withdrawn = annotations[withdrawingAnnotation] === undefined ? [] : withdrawnPools(annotations)
  return {
    metadata: {
      resourceVersion: service.metadata.resourceVersion,
      finalizers: [...new Set([...others, ...added])],
      annotations: Object.fromEntries([...removed, ...withdrawn].map((name) => [name, null])),
    },
  }
}

/** The annotations by which we made MetalLB withdraw the address. */
function withdrawnPools(annotations: Readonly<Record<string, string>>): string[] {
  return metallbPoolAnnotations.filter((name) => annotations[name] === unusedPoolName)
}

/** Whether a Service that is being deleted would leave its reservation behind: nobody but us would have released it. */
export function leavesReservation(service: Service, predecessorFinalizers: readonly string[]): boolean {
  const { finalizers = [], deletionTimestamp } = service.metadata
  return (
    deletionTimestamp !== undefined &&
    finalizers.includes(serviceFinalizer) &&
    !predecessorFinalizers.some((one) => finalizers.includes(one))
  )
}
