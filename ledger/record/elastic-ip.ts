import type { Condition, Key, KubeObject } from '../../kube/objects.ts'
import { defineResource } from '../../kube/resource.ts'

/**
 * The life of an address. Requested: the record is written, the cloud is asked. Reserved: the address is known, its
 * Service not seen yet. Bound: a live Service holds it. Releasing: on its way back to the cloud. Released: kept by
 * `Retain` after its Service went. Available: provisioned beforehand, nobody's yet.
 */
export type Phase = 'Requested' | 'Reserved' | 'Bound' | 'Releasing' | 'Released' | 'Available'

export type ReclaimPolicy = 'Delete' | 'Retain'

export type ClaimRef = {
  namespace: string
  name: string
  uid?: string
  /** In stock: uid of the record that has taken it for that Service. */
  elasticIPUID?: string
}

/** Where a Service's record has its address from: stock that is lent to it, or that it takes over for good. */
export type AddressSource = { name: string; type: 'Provisioned' | 'WarmPool' }

/** Who holds which address: to an address what a PersistentVolume is to a disk. */
export type ElasticIP = KubeObject & {
  apiVersion: 'eip-admission.dev/v1alpha1'
  kind: 'ElasticIP'
  spec: {
    claimRef?: ClaimRef
    location?: string
    reclaimPolicy: ReclaimPolicy
    /** A reservation that exists already: adopted, or provisioned by hand. */
    reservationID?: string
    source?: AddressSource
  }
  status?: ElasticIPStatus
}

export type ElasticIPStatus = {
  phase?: Phase
  address?: string
  reservationID?: string
  /** Who is asking the cloud right now. Absent while the status is: then it is whoever created the record. */
  requestInFlight?: { sender: string; sentAt: string }
  /** When the cloud was told to delete the reservation; from then on the address is not ours to show. */
  deletionRequestedAt?: string
  conditions?: Condition[]
  message?: string
}

export const elasticIPs = defineResource<ElasticIP>({
  apiVersion: 'eip-admission.dev/v1alpha1',
  kind: 'ElasticIP',
  plural: 'elasticips',
  namespaced: false,
})

/** Keeps a record until its reservation is given back, whoever deletes it. */
export const recordFinalizer = 'eip-admission.dev/reservation-cleanup'

/** The name of a Service's record: names of namespaces and Services have no dot, so it is unique, and it reads well. */
export function recordName(key: Key): string {
  return key.replace('/', '.')
}

/** The Service that a record is for. */
export function claimKey(record: ElasticIP): Key | undefined {
  const { claimRef } = record.spec
  return claimRef && `${claimRef.namespace}/${claimRef.name}`
}

/** The phase of a record; one without a status was created a moment ago. */
export function phaseOf(record: ElasticIP): Phase {
  return record.status?.phase ?? 'Requested'
}

/** The reservation behind a record, as far as it is known. */
export function reservationIdOf(record: ElasticIP): string | undefined {
  return record.status?.reservationID ?? record.spec.reservationID
}

/** The address that a record holds for its Service; none while it is on its way to us or back. */
export function heldAddress(record: ElasticIP): string | undefined {
  const phase = phaseOf(record)
  return phase === 'Reserved' || phase === 'Bound' ? record.status?.address : undefined
}

/** Whether no Service has been seen that holds the record's address, or waits for it. */
export function isUnbound(record: ElasticIP): boolean {
  const phase = phaseOf(record)
  const { claimRef } = record.spec
  return (phase === 'Requested' || phase === 'Reserved') && claimRef !== undefined && claimRef.uid === undefined
}

/** The ElasticIP that a person provisioned, and that lends a Service's record its address. */
export function provisionedSourceOf({ spec: { source } }: ElasticIP): string | undefined {
  return source?.type === 'Provisioned' ? source.name : undefined
}
