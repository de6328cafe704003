import type { KubeObject } from '../../kube/objects.ts'
import { type ShownAddress, nameOf } from '../shared/address.ts'
import { compareTexts } from '../shared/order.ts'
import { type ExistingObjects, isCounting } from './ownership.ts'
import { isPeer, isPool } from './resources.ts'

/** The name of a new pool, and the labels by which a predecessor finds the Service that it is for. */
export type PoolName = { name: string; labels: Record<string, string> }

/**
 * Names new pools. After a takeover, a new pool gets the name that the predecessor would give it, so that an undo needs
 * no rename. A rename needs a second pool with the same address, which MetalLB refuses even briefly.
 */
export function poolNaming({ ours, foreign }: ExistingObjects): (shown: ShownAddress) => PoolName {
  const taken = new Set([...ours, ...foreign].filter(isPool).map(({ metadata }) => metadata.name))
  const isTakenOver = ours.some(isOfPredecessor)
  return ({ address, services }) => {
    const [service = ''] = services.toSorted(compareTexts)
    const name = poolNameOf(service)
    // A pool has one address, so the pool of a Service's second address is named after the address.
    if (!isTakenOver || service === '' || taken.has(name)) return { name: nameOf(address), labels: {} }
    taken.add(name)
    return { name, labels: serviceLabel(service) }
  }
}

/** Whether an object shows a takeover: a predecessor writes these fields, and we write or keep them only after it. */
function isOfPredecessor(object: KubeObject): boolean {
  const labels = Object.keys(object.metadata.labels ?? {})
  if (isPool(object)) return labels.some((key) => key.startsWith('service-'))
  return isPeer(object) && (object.spec.nodeSelectors ?? []).some(isCounting)
}

/** The name that predecessors give to the pool of a Service. */
export function poolNameOf(key: string): string {
  return key.replace('/', '.')
}

/** The label by which predecessors count a Service of a pool. */
export function serviceLabel(key: string): Record<string, string> {
  const [namespace = '', service = ''] = key.split('/')
  const [name, value] = [`service-${service}`, `namespace-${namespace}`]
  // The API server refuses longer ones, even from a predecessor.
  return name.length <= 63 && value.length <= 63 ? { [name]: value } : {}
}
