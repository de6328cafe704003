import type { Service } from '../kube/objects.ts'
import { balancerFinalizer, balancerRequestAnnotation } from '../ledger/record/names.ts'
import { shownBalancer } from '../clouds/cloud-choice.ts'

/** The facts that a Service shows of its managed balancer. */
export type ShownBalancer = {
  id: string | undefined
  location: string | undefined
  /** A request for it may still be carried out. */
  isRequested: boolean
}

/** The managed balancer of a Service; undefined if it wants none of us. It has no record: all that we know is here. */
export function balancerOf({ metadata: { annotations = {}, finalizers = [] } }: Service): ShownBalancer | undefined {
  if (!finalizers.includes(balancerFinalizer)) return undefined
  return {
    ...shownBalancer(annotations),
    isRequested: annotations[balancerRequestAnnotation] !== undefined,
  }
}

/** Its name for people. */
export function balancerText({ id, location }: ShownBalancer): string {
  const place = location === undefined ? '' : ` in ${location}`
  return id === undefined ? `managed load balancer${place}` : `managed load balancer ${id}${place}`
}

/** Why a balancer has no address to show. */
export function missingText(balancer: ShownBalancer): string {
  if (balancer.id !== undefined) return `the provider has not given its ${balancerText(balancer)} an address`
  return balancer.isRequested
    ? 'a request for its managed load balancer is under way'
    : 'its managed load balancer is not requested yet'
}
