import type { Annotation, WrittenName } from '../../lib/annotation.ts'
import { requestIdAnnotation } from '../../lib/request-id.ts'

// The names that we write on objects. The tables below define each, and the reference is generated from them.

export const reclaimAnnotation = 'eip-admission.dev/reclaim-policy'
export const protectAnnotation = 'eip-admission.dev/protect'
export const elasticIPAnnotation = 'eip-admission.dev/elastic-ip'
export const withdrawingAnnotation = 'eip-admission.dev/withdrawing-since'
export const droppedRequestAnnotation = 'eip-admission.dev/dropped-request'
export const protectedAnnotation = 'eip-admission.dev/service-protected'
export const confirmAnnotation = 'eip-admission.dev/confirm-cluster'
export const confirmProjectAnnotation = 'eip-admission.dev/confirm-project'
export const transferAnnotation = 'eip-admission.dev/transfer-from-cluster'
export const allowedBeforeMoveAnnotation = 'eip-admission.dev/allowed-before-move'
export const silentAnnotation = 'eip-admission.dev/cloud-silent'
export const reachedAnnotation = 'eip-admission.dev/cloud-reached'
export const balancerRequestAnnotation = 'eip-admission.dev/balancer-request'
export const requestedByAnnotation = 'eip-admission.dev/requested-by'
export const addressCondition = 'eip-admission.dev/AddressReady'
export const warmLabel = 'eip-admission.dev/warm-pool'
export const serviceNamespaceLabel = 'eip-admission.dev/service-namespace'
export const serviceNameLabel = 'eip-admission.dev/service-name'
export const serviceFinalizer = 'eip-admission.dev/address-cleanup'
export const upstreamFinalizer = 'service.kubernetes.io/load-balancer-cleanup'
export const balancerFinalizer = 'eip-admission.dev/balancer-cleanup'
export const recordFinalizer = 'eip-admission.dev/reservation-cleanup'

/**
 * The address that we wrote into `spec.loadBalancerIP`. If the two agree, the address is ours, else the user's own. So
 * our address never passes for an own one after its reservation is deleted.
 */
export const addressAnnotation = 'eip-admission.dev/address'

/** The prefix of our annotations. */
export const ownPrefix = 'eip-admission.dev/'

/** The field manager of the controllers' writes to Services. With our user, it tells the webhooks which writes are ours. */
export const serviceFieldManager = 'eip-admission'

const annotationsOn = (on: Annotation['on'], rows: Omit<Annotation, 'on'>[]) => rows.map((row) => ({ ...row, on }))

/** Our annotations of Services, in every dialect. */
export const serviceAnnotations: readonly Annotation[] = annotationsOn('Service', [
  {
    name: addressAnnotation,
    writers: ['eip-admission'],
    values: 'an IP address',
    sentence:
      'The address that eip-admission wrote into `spec.loadBalancerIP`. If the two differ, the Service has a user-chosen address.',
  },
  {
    name: elasticIPAnnotation,
    writers: ['user'],
    values: 'the name of an ElasticIP',
    default: 'a warm or new address',
    sentence: 'Requests the address of an ElasticIP that an operator provisioned.',
  },
  {
    name: reclaimAnnotation,
    writers: ['user'],
    values: ['Delete', 'Retain'],
    default: 'the default reclaim policy (`--default-reclaim-policy`)',
    sentence: 'Whether the reservation is deleted or retained when the Service is deleted.',
  },
  {
    name: protectAnnotation,
    writers: ['user'],
    values: ['true', 'false'],
    default: '`false`',
    sentence:
      'While it is `true`, the Service can neither be deleted nor lose its address. If no review sees the deletion, the reservation is retained, unless `--allow-retain=false`.',
  },
  {
    name: withdrawingAnnotation,
    writers: ['eip-admission'],
    values: 'a time (RFC 3339)',
    sentence: 'When eip-admission began to withdraw the address.',
  },
  {
    name: balancerRequestAnnotation,
    writers: ['eip-admission'],
    values: 'an id',
    sentence:
      'An unanswered request for a managed load balancer. While it is there, eip-admission does not send a second one.',
  },
])

/** Our annotations of ElasticIPs. */
export const recordAnnotations: readonly Annotation[] = annotationsOn('ElasticIP', [
  {
    name: transferAnnotation,
    writers: ['user'],
    values: 'the id of a cluster',
    default: 'a reservation whose marks name another cluster is refused',
    sentence: 'Takes the reservation from the cluster that its marks name. That cluster no longer deletes it.',
  },
  {
    name: allowedBeforeMoveAnnotation,
    writers: ['operator'],
    values: 'names of namespaces, separated by commas, or `*`',
    sentence:
      'What `spec.allowedNamespaces` was before `kubectl eip move` closed the ElasticIP to change its Service. If it stays, the command was interrupted: repeat it.',
  },
  {
    name: requestedByAnnotation,
    writers: ['eip-admission'],
    values: 'the name of a replica',
    sentence: 'The replica that created the record. Until the record has a status, this replica requests the address.',
  },
  {
    name: requestIdAnnotation,
    writers: ['eip-admission'],
    values: 'the uid of an AdmissionReview',
    sentence:
      'The review for which the record was created. Lines of the log about it have the same id in the field `request`, and the Events have this annotation too.',
  },
  {
    name: droppedRequestAnnotation,
    writers: ['eip-admission'],
    values: 'a time (RFC 3339)',
    sentence:
      'When the Service requested an ElasticIP by name instead of a new address. What the earlier request bought is an orphan.',
  },
  {
    name: protectedAnnotation,
    writers: ['eip-admission'],
    values: ['true'],
    default: 'the Service was not protected',
    sentence:
      'The Service was protected when eip-admission last saw it. If it no longer exists when eip-admission runs again, as after an uninstall, the reservation is retained.',
  },
])

/** Our annotations of the ledger's ConfigMap. */
export const ledgerAnnotations: readonly Annotation[] = annotationsOn('ConfigMap', [
  {
    name: confirmAnnotation,
    writers: ['operator'],
    values: 'a heartbeat or a cluster id',
    sentence:
      'On `eip-admission-ledger`: overrules another cluster whose heartbeat was found, or confirms a new `--cluster-id`. eip-admission removes the annotation when it has acted on it.',
  },
  {
    name: confirmProjectAnnotation,
    writers: ['operator'],
    values: 'a project, as the Event names it',
    sentence:
      'On `eip-admission-ledger`: the ledger belongs to this project from now on, or the addresses that this project lost really no longer exist. eip-admission removes the annotation when it has acted on it.',
  },
])

/** Our annotations of the lease for the leader election of the controllers. */
export const leaseAnnotations: readonly Annotation[] = annotationsOn('Lease', [
  {
    name: silentAnnotation,
    writers: ['eip-admission'],
    values: 'a replica and a time (RFC 3339)',
    sentence:
      'On the lease of the controllers: the leader that the provider does not answer, and when that leader asked the other replicas for help.',
  },
  {
    name: reachedAnnotation,
    writers: ['eip-admission'],
    values: 'the value of `cloud-silent`, and a replica',
    sentence: 'On the lease of the controllers: the provider answered this replica, so the leader gives up the lease.',
  },
])

/** Labels that the ledger writes. */
export const recordLabels: readonly WrittenName[] = [
  { name: warmLabel, sentence: 'Marks a warm address: reserved before any Service requested it.' },
  {
    name: serviceNamespaceLabel,
    sentence: 'The namespace of the Service in `spec.claimRef`, for selectors.',
  },
  { name: serviceNameLabel, sentence: 'The name of the Service in `spec.claimRef`, for selectors.' },
].map((label) => ({ ...label, on: 'ElasticIP' }))

/** Finalizers that the ledger writes or removes. */
export const finalizers: readonly WrittenName[] = [
  {
    name: serviceFinalizer,
    on: 'Service',
    sentence: 'Keeps the Service until its address is withdrawn and its reservation is deleted or retained.',
  },
  {
    name: recordFinalizer,
    on: 'ElasticIP',
    sentence: 'Keeps the record until its reservation is deleted at the provider or retained.',
  },
  {
    name: balancerFinalizer,
    on: 'Service',
    sentence: 'Keeps the Service until its managed load balancer is deleted at the provider.',
  },
  {
    name: upstreamFinalizer,
    on: 'Service',
    sentence:
      'Written by a predecessor. eip-admission never adds it, and removes it together with its own finalizer, unless ' +
      'another program serves the Service. `cleanup` leaves it while a takeover is recorded, for the predecessor that ' +
      '`undo` may bring back.',
  },
]

/** Conditions in the status of objects that are not ours. */
export const conditions: readonly WrittenName[] = [
  {
    name: addressCondition,
    on: 'Service',
    sentence: 'Whether the status shows the address of the Service, and if not, why.',
  },
]

/** Whether only we write this annotation of a Service. */
export function isWrittenByUs(name: string): boolean {
  return serviceAnnotations.some((one) => one.name === name && !one.writers.includes('user'))
}
