import type { CallOptions, KubeClient } from '../../kube/client.ts'
import type { Condition, Key } from '../../kube/objects.ts'
import { splitKey } from '../../kube/objects.ts'
import { requestedByAnnotation } from './requests-in-flight.ts'
import { type ElasticIP, type ElasticIPStatus, elasticIPs, recordFinalizer, recordName } from './elastic-ip.ts'

/**
 * The ledger's book: ElasticIP records in the API server. Every write is a compare-and-swap on the resourceVersion that
 * was read and answers the record as stored; KubeError `conflict` says that somebody else was quicker.
 */
export type Records = {
  get(key: Key, options?: CallOptions): Promise<ElasticIP | undefined>
  /** Every record, as the API server has it now: no cache. */
  list(options?: CallOptions): Promise<ElasticIP[]>
  create(record: ElasticIP, options?: CallOptions): Promise<ElasticIP>
  /** Our finalizer goes with it: whoever uses a record must be there when it goes. */
  writeSpec(record: ElasticIP, spec: ElasticIP['spec']): Promise<ElasticIP>
  writeStatus(record: ElasticIP, change: StatusChange): Promise<ElasticIP>
  /** Takes our finalizer off and deletes the record. */
  remove(record: ElasticIP): Promise<void>
}

/** What is to be different in a status; undefined removes. */
export type StatusChange = { [Field in keyof ElasticIPStatus]?: ElasticIPStatus[Field] | undefined }

/** Opens the book at an API server. */
export function records(client: KubeClient): Records {
  return {
    get: (key, options) => client.get(elasticIPs, { name: recordName(key) }, options),
    list: async (options) => (await client.list(elasticIPs, options)).items,
    create: (record, options) => client.create(elasticIPs, record, options),
    writeSpec: (record, spec) => client.replace(elasticIPs, { ...withFinalizer(record), spec }),
    writeStatus: (record, change) =>
      client.replace(elasticIPs, { ...record, status: merged(record.status, change) }, { subresource: 'status' }),
    async remove(record) {
      const finalizers = (record.metadata.finalizers ?? []).filter((finalizer) => finalizer !== recordFinalizer)
      const metadata = { ...record.metadata, finalizers }
      const { name, uid, resourceVersion } = (await client.replace(elasticIPs, { ...record, metadata })).metadata
      // Not one that somebody has begun to use in between.
      if (!metadata.deletionTimestamp) await client.remove(elasticIPs, { name, uid, resourceVersion })
    },
  }
}

/** Whether a record goes without us: it is deleted, and our finalizer is off and cannot be put on again. */
export function isBeingRemoved({ metadata }: ElasticIP): boolean {
  return metadata.deletionTimestamp !== undefined && !metadata.finalizers?.includes(recordFinalizer)
}

function withFinalizer(record: ElasticIP): ElasticIP {
  const { finalizers = [] } = record.metadata
  if (finalizers.includes(recordFinalizer) || isBeingRemoved(record)) return record
  return { ...record, metadata: { ...record.metadata, finalizers: [...finalizers, recordFinalizer] } }
}

/** A new record for a Service, not stored yet. */
export function newRecord(key: Key, spec: Omit<ElasticIP['spec'], 'claimRef'>, requester: string): ElasticIP {
  return {
    apiVersion: 'eip-admission.dev/v1alpha1',
    kind: 'ElasticIP',
    metadata: {
      name: recordName(key),
      finalizers: [recordFinalizer],
      annotations: { [requestedByAnnotation]: requester },
    },
    spec: { claimRef: splitKey(key), ...spec },
  }
}

/** A status change that says one thing about the record; `message` is what a person reads beside it. */
export function condition(
  type: 'Requested' | 'Reserved' | 'Assigned' | 'Mapped',
  said: { status: Condition['status']; reason: string; message: string; now: Date },
): Condition {
  const { status, reason, message } = said
  return { type, status, reason, message, lastTransitionTime: said.now.toISOString().replace(/\.\d+Z$/, 'Z') }
}

/** Whether a live Service holds the address. Said at every change of phase, so that it tells how long that is ago. */
export function assigned(status: Condition['status'], said: { reason: string; message: string; now: Date }): Condition {
  return condition('Assigned', { status, ...said })
}

/** Conditions are merged by type and keep the time of their last transition. */
function merged(before: ElasticIPStatus = {}, change: StatusChange): ElasticIPStatus {
  const conditions = new Map((before.conditions ?? []).map((known) => [known.type, known]))
  for (const said of change.conditions ?? []) {
    const known = conditions.get(said.type)
    const same = known?.status === said.status
    conditions.set(said.type, same ? { ...said, lastTransitionTime: known.lastTransitionTime } : said)
  }
  const after = { ...before, ...change, conditions: [...conditions.values()] }
  return Object.fromEntries(Object.entries(after).filter(([, value]) => value !== undefined))
}
