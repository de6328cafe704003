/** Names that we write on Services. */

/** Holds a Service until its address is withdrawn and given back. */
export const serviceFinalizer = 'eip-admission.dev/address-cleanup'

/** The upstream service controller's finalizer; a predecessor may have left it, and nobody else would take it off. */
export const upstreamFinalizer = 'service.kubernetes.io/load-balancer-cleanup'

/**
 * The address that we wrote into `spec.loadBalancerIP`. Where the two agree the address is ours, else a person brought
 * their own; so an address that was ours is never taken for theirs after its reservation went.
 */
export const addressAnnotation = 'eip-admission.dev/address'

/** What becomes of the address when the Service goes: `Delete` or `Retain`. */
export const reclaimAnnotation = 'eip-admission.dev/reclaim-policy'

/** `true` keeps a Service from being deleted, and from leaving LoadBalancer, until somebody sets it to `false`. */
export const protectAnnotation = 'eip-admission.dev/protect'

/** Names the ElasticIP, provisioned by a person, whose address the Service gets. */
export const elasticIPAnnotation = 'eip-admission.dev/elastic-ip'

/** Since when the announcing software has been asked to let go of the Service's address. */
export const withdrawingAnnotation = 'eip-admission.dev/withdrawing-since'

/** Prefix of all annotations that are ours. */
export const ownPrefix = 'eip-admission.dev/'

/** Label of the ElasticIPs that are reserved beforehand, for whichever Service comes. */
export const warmLabel = 'eip-admission.dev/warm-pool'
