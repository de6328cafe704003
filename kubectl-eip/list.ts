import { stringify } from 'yaml'
import { type ElasticIP, claimKey, phaseOf, reservationIdOf } from '../ledger/record/elastic-ip.ts'
import { requestOfRecord } from '../ledger/record/records.ts'
import { isSource } from '../ledger/record/source.ts'
import { escapeMisleading } from '../lib/text.ts'
import { type Cluster, listRecords } from './reader.ts'
import { type Io, formatAge, formatTable } from './io.ts'

export const formats = ['wide', 'json', 'yaml'] as const

export type ListOptions = { allNamespaces: boolean; output?: (typeof formats)[number] | undefined }

/** Prints the addresses of the whole cluster, or of a namespace with those that its Services may claim. */
export async function list(cluster: Cluster, options: ListOptions, io: Io): Promise<void> {
  const all = await listRecords(cluster)
  const shown = options.allNamespaces ? all : all.filter((record) => isOfNamespace(record, cluster.namespace))
  if (options.output === 'json' || options.output === 'yaml') return io.print(formatObjects(shown, options.output))
  if (shown.length === 0) {
    const where = options.allNamespaces ? 'in the cluster' : `in namespace ${cluster.namespace}; -A lists all`
    return io.printError(`No addresses ${where}.\n`)
  }
  io.print(formatRecords(shown, { isWide: options.output === 'wide', now: cluster.now }))
}

/** Whether one of a namespace's Services has the address of a record, or could claim it. */
export function isOfNamespace(record: ElasticIP, namespace: string): boolean {
  const { claimRef, allowedNamespaces } = record.spec
  if (claimRef) return claimRef.namespace === namespace
  return isSource(record) && (allowedNamespaces?.includes(namespace) ?? true)
}

/** A table of records, sorted by Service, then by name. */
export function formatRecords(records: readonly ElasticIP[], { isWide, now }: { isWide: boolean; now: Date }): string {
  const headings = ['NAME', 'ADDRESS', 'PHASE', 'SERVICE', 'LOCATION', 'RECLAIM', 'AGE']
  const sorted = records.toSorted((a, b) => orderOf(a).localeCompare(orderOf(b)))
  const rows = sorted.map((record) => {
    const { metadata, spec, status } = record
    const age = formatAge(metadata.creationTimestamp, now)
    const cells = [status?.address, phaseOf(record), claimKey(record), spec.location, spec.reclaimPolicy, age]
    const wide = isWide ? [reservationIdOf(record), requestOfRecord(record), status?.message] : []
    return [metadata.name, ...[...cells, ...wide].map((cell) => cell ?? '')]
  })
  return formatTable([...headings, ...(isWide ? ['RESERVATION', 'REQUEST', 'MESSAGE'] : [])], rows)
}

function orderOf(record: ElasticIP): string {
  return `${claimKey(record) ?? ''} ${record.metadata.name}`
}

function formatObjects(items: ElasticIP[], format: 'json' | 'yaml'): string {
  const all = { apiVersion: 'v1', kind: 'List', items }
  return escapeMisleading(format === 'json' ? `${JSON.stringify(all, null, 2)}\n` : stringify(all))
}
