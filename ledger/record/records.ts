import type { AddressInUse } from './address-use.ts'
import type { Reservation } from '../../clouds/ports/cloud.ts'
import type { CallOptions, KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { listAll } from '../../kube/list-all.ts'
import { splitKey } from '../../kube/objects.ts'
import {
  type AddressKey,
  type ElasticIP,
  addressKeyOf,
  elasticIPs,
  newElasticIP,
  provisionedSourceOf,
  recordName,
  reservationIdOf,
  serviceOfAddress,
} from './elastic-ip.ts'
import { isLabelValue } from '../../lib/names.ts'
import { requestIdAnnotation } from '../../lib/request-id.ts'
import { isRetained } from './marks.ts'
import { serviceNameLabel, serviceNamespaceLabel, recordFinalizer, requestedByAnnotation } from './names.ts'
import { type StatusChange, type Writer, mergeStatus } from './status.ts'
import { defined } from '../../lib/json.ts'

/**
 * The ElasticIP records in the API server. Every write is a compare-and-swap on the resourceVersion that was read, and
 * returns the stored record. KubeError `conflict` says that another process wrote first.
 */
export type Records = {
  /** Reads a record by the key of an address, or by name. */
  get(key: AddressKey, options?: CallOptions): Promise<ElasticIP | undefined>
  /** Reads every record live, without a cache. */
  list(options?: CallOptions): Promise<ElasticIP[]>
  create(record: ElasticIP, options?: CallOptions): Promise<ElasticIP>
  /** Also adds our finalizer: a record in use must not disappear without us. */
  writeSpec(record: ElasticIP, spec: ElasticIP['spec'], options?: CallOptions): Promise<ElasticIP>
  writeStatus(record: ElasticIP, change: StatusChange, options?: CallOptions): Promise<ElasticIP>
  /** Whether the API server is deleting every record together with the CRD. It accepts no new one then. */
  areDeleted(options?: CallOptions): Promise<boolean>
  /** Removes our finalizer and deletes the record. */
  remove(record: ElasticIP, options?: CallOptions): Promise<void>
}

/** The records in one API server, as one process writes them. */
export function records(client: KubeClient, writer: Writer): Records {
  return {
    get: (key, options) => client.get(elasticIPs, { name: recordName(key) }, options),
    list: (options) => listAll(client, elasticIPs, options),
    create: (record, options) => client.create(elasticIPs, withServiceLabels(record), options),
    writeSpec: (record, spec, options) =>
      client.replace(elasticIPs, withServiceLabels({ ...withFinalizer(record), spec }), options),
    writeStatus: (record, change, options) =>
      client.replace(
        elasticIPs,
        { ...record, status: mergeStatus(record, change, writer) },
        { ...options, subresource: 'status' },
      ),
    async areDeleted(options) {
      try {
        await client.create(elasticIPs, neverStored, { ...options, dryRun: true })
        return false
      } catch (error) {
        if (!(error instanceof KubeError)) throw error
        if (error.message.includes(whileDeleted)) return true
        if (!isJudged(error)) throw error
        return false
      }
    },
    async remove(record, options) {
      const finalizers = (record.metadata.finalizers ?? []).filter((finalizer) => finalizer !== recordFinalizer)
      const metadata = { ...record.metadata, finalizers }
      const { name, uid, resourceVersion } = (await client.replace(elasticIPs, { ...record, metadata }, options))
        .metadata
      // The version protects a record that another process has begun to use in between.
      if (!metadata.deletionTimestamp) await client.remove(elasticIPs, { name, uid, resourceVersion }, options)
    },
  }
}

/** Created only as a dry run. Reading the CRD would tell the same, but needs one more right. */
const neverStored = newElasticIP({ name: 'eip-admission-dry-run' }, { reclaimPolicy: 'Retain' })

/** How the API server refuses a new object whose CRD it is deleting: with status 405 or 403, depending on its version. */
const whileDeleted = 'custom resource definition is terminating'

/** Whether the API server or a policy got as far as judging the object, which lacks a location. */
function isJudged({ status, message }: KubeError): boolean {
  return status === 422 || status === 409 || (status < 500 && message.includes('denied the request'))
}

/** Whether nothing can keep a record: it is being deleted, and our removed finalizer cannot be added again. */
export function isBeingRemoved({ metadata }: ElasticIP): boolean {
  return metadata.deletionTimestamp !== undefined && !metadata.finalizers?.includes(recordFinalizer)
}

/** Whether a record with an address lacks our finalizer. `cleanup` removes it, and the next install adds it again. */
export function lacksFinalizer({ metadata, status }: ElasticIP): boolean {
  const isOnItsWay = metadata.deletionTimestamp !== undefined || status?.phase === 'Releasing'
  return !isOnItsWay && status?.address !== undefined && !metadata.finalizers?.includes(recordFinalizer)
}

type HasRecords = { records: Records }

/** Adds our finalizer to a record, and changes nothing else. */
export async function holdRecord({ records: all }: HasRecords, record: ElasticIP, signal: AbortSignal): Promise<void> {
  await all.writeSpec(record, record.spec, { signal })
}

/** Writes the status of a record for its newest spec, and changes nothing else. */
export async function observeRecord(
  { records: all }: HasRecords,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<void> {
  await all.writeStatus(record, {}, { signal })
}

/**
 * Whether a deleted record leaves a reservation behind, which the next claim of its Service must find. A requested
 * deletion continues without the record.
 */
export function leavesReservation(record: ElasticIP): boolean {
  const isDeleted = record.status?.deletionRequestedAt !== undefined
  const isOurs = addressKeyOf(record) !== undefined && provisionedSourceOf(record) === undefined
  return isOurs && reservationIdOf(record) !== undefined && !isDeleted
}

function withFinalizer(record: ElasticIP): ElasticIP {
  const { finalizers = [] } = record.metadata
  if (finalizers.includes(recordFinalizer) || isBeingRemoved(record)) return record
  return { ...record, metadata: { ...record.metadata, finalizers: [...finalizers, recordFinalizer] } }
}

/** Labels a record with its Service, for selectors. A person may write a claimRef that no label can hold. */
function withServiceLabels(record: ElasticIP): ElasticIP {
  const { [serviceNamespaceLabel]: _namespace, [serviceNameLabel]: _name, ...others } = record.metadata.labels ?? {}
  const { claimRef } = record.spec
  const isPossible = claimRef && isLabelValue(claimRef.namespace) && isLabelValue(claimRef.name)
  const ofService = isPossible && { [serviceNamespaceLabel]: claimRef.namespace, [serviceNameLabel]: claimRef.name }
  return { ...record, metadata: { ...record.metadata, labels: { ...others, ...ofService } } }
}

/** The creator of a record, and the review for which it was created, if any. */
export type Requester = { identity: string; request?: string | undefined }

/** A new record for a Service's address, not stored yet. */
export function newRecord(
  key: AddressKey,
  spec: Omit<ElasticIP['spec'], 'claimRef'>,
  { identity, request }: Requester,
): ElasticIP {
  const annotations = { [requestedByAnnotation]: identity, ...defined({ [requestIdAnnotation]: request }) }
  const metadata = { name: recordName(key), finalizers: [recordFinalizer], annotations }
  return newElasticIP(metadata, { claimRef: splitKey(serviceOfAddress(key)), ...spec })
}

/** Whether a Service has held an address of the record. A record that loses its address still shows that. */
export function hasBeenHeld({ status }: ElasticIP): boolean {
  return status?.conditions?.some(({ type }) => type === 'Assigned') ?? false
}

/**
 * Whether a Service had the address of a reservation, if the record's status does not show it. Its record was bound, or
 * its marks say that the address is retained. An order whose answer was lost gave no Service an address.
 */
export function wasHeld({ spec }: ElasticIP, { marks }: Reservation): boolean {
  return spec.claimRef?.uid !== undefined || isRetained(marks)
}

/**
 * Whether a record may still find the address that its Service shows, as after records or their status were lost. A
 * record that had an address before has lost it.
 */
export function mayFindShown(record: ElasticIP): boolean {
  return record.status?.address === undefined && !hasBeenHeld(record)
}

/** Whether a Service's record names a reservation and no more: a process is about to continue, or has died. */
export function isAdoptionBegun({ spec, status }: ElasticIP): boolean {
  return spec.reservationID !== undefined && status?.phase === undefined && status?.reservationID === undefined
}

/** The request that a record was last written for. */
export function requestOfRecord({ metadata, status }: ElasticIP): string | undefined {
  return (
    status?.history?.findLast(({ request }) => request !== undefined)?.request ??
    metadata.annotations?.[requestIdAnnotation]
  )
}

/** Writes on a record, once, that its address is in use, and throws, so that the caller reports it in an Event. */
export async function stayInUse(
  { records: all }: HasRecords,
  { record, error }: { record: ElasticIP; error: AddressInUse },
  signal: AbortSignal,
): Promise<never> {
  const { message } = error
  if (record.status?.message !== message) await all.writeStatus(record, { message }, { signal })
  throw error
}
