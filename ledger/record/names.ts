/** Names that we write on Services and on records. */

/** Keeps a deleted Service until its address is withdrawn and released. */
export const serviceFinalizer = 'eip-admission.dev/address-cleanup'

/** The upstream service controller's finalizer: a predecessor may have left it, and only we would remove it. */
export const upstreamFinalizer = 'service.kubernetes.io/load-balancer-cleanup'

/**
 * The address that we wrote into `spec.loadBalancerIP`. Where the two agree the address is ours, else it is an own
 * address of the user. So our address is never mistaken for an own one after its reservation is deleted.
 */
export const addressAnnotation = 'eip-admission.dev/address'

/** The fate of the reservation when the Service is deleted: `Delete` or `Retain`. */
export const reclaimAnnotation = 'eip-admission.dev/reclaim-policy'

/** `true` forbids to delete a Service, or to change its type from LoadBalancer, until a user sets it to `false`. */
export const protectAnnotation = 'eip-admission.dev/protect'

/** Names the provisioned ElasticIP whose address the Service gets. */
export const elasticIPAnnotation = 'eip-admission.dev/elastic-ip'

/** When we began to withdraw the Service's address from the announcing software. */
export const withdrawingAnnotation = 'eip-admission.dev/withdrawing-since'

/** On a Service's record: an earlier request may have bought a reservation that the Service no longer wants. */
export const droppedRequestAnnotation = 'eip-admission.dev/dropped-request'

/** On a Service's record: the Service was protected when a controller last saw it. */
export const protectedAnnotation = 'eip-admission.dev/service-protected'

/** On the ledger's ConfigMap: a person confirms which cluster is the one, by the id or sign that is meant. */
export const confirmAnnotation = 'eip-admission.dev/confirm-cluster'

/** On the ledger's ConfigMap: a person confirms the project to which the ledger belongs from now on. */
export const confirmProjectAnnotation = 'eip-admission.dev/confirm-project'

/** On a provisioned ElasticIP: the cluster that its reservation's marks name, and from which an operator takes it. */
export const transferAnnotation = 'eip-admission.dev/transfer-from-cluster'

/**
 * On a provisioned ElasticIP: the namespaces that it allowed before `kubectl eip move` closed it, with commas between them, or
 * `*` for all. A move that was interrupted leaves it for the next one.
 */
export const allowedBeforeMoveAnnotation = 'eip-admission.dev/allowed-before-move'

/** On the lease of the controllers: its holder, and since when the cloud has been silent for it. */
export const silentAnnotation = 'eip-admission.dev/cloud-silent'

/** On the lease of the controllers: the value of that, and a replica that the cloud answered after it had read it. */
export const reachedAnnotation = 'eip-admission.dev/cloud-reached'

/** Keeps a deleted Service until its managed balancer is deleted. */
export const balancerFinalizer = 'eip-admission.dev/balancer-cleanup'

/** A request for a managed balancer that may still be carried out: written before it is sent, removed with its answer. */
export const balancerRequestAnnotation = 'eip-admission.dev/balancer-request'

/** The condition of a Service that says whether it has its address. */
export const addressCondition = 'eip-admission.dev/AddressReady'

/** The prefix of our annotations. */
export const ownPrefix = 'eip-admission.dev/'

/** The label of warm addresses: reserved before any Service requested them, and for any Service. */
export const warmLabel = 'eip-admission.dev/warm-pool'

/** The Service of an ElasticIP, for selectors. */
export const serviceNamespaceLabel = 'eip-admission.dev/service-namespace'
export const serviceNameLabel = 'eip-admission.dev/service-name'

/** The name under which the controllers write Services: by it and by our user the webhooks know our own writes. */
export const serviceFieldManager = 'eip-admission'
