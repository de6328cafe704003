import { type ElasticIP, phaseOf, reservationIdOf } from '../record/elastic-ip.ts'

/** How many addresses there may be; undefined is no limit. */
export type Limits = { cluster: number | undefined; namespace: number | undefined }

/** How many holders a refusal names: enough to know whom to ask. */
const maxNamed = 10

/**
 * Why a record is one too many among all that there are, in words for whoever asked for it; it may be among them already.
 * Each claim writes its record before it counts, so of those that race for the last place none is let in wrongly: the
 * last one to write sees all the others.
 */
export function overLimit(record: ElasticIP, all: ElasticIP[], limits: Limits): string | undefined {
  const others = addresses(record, all).filter((other) => !isLater(other, record))
  const namespace = record.spec.claimRef?.namespace
  const neighbours = others.filter(({ spec }) => spec.claimRef?.namespace === namespace)
  const inNamespace = namespace === undefined ? undefined : limits.namespace
  return (
    reached(`in namespace ${namespace}`, neighbours, inNamespace) ?? reached('in the cluster', others, limits.cluster)
  )
}

/**
 * One record for each address beside the record's own: what was taken out of the stock is counted where it went, and
 * what was given back nowhere, however long the cloud takes.
 */
function addresses(record: ElasticIP, all: ElasticIP[]): ElasticIP[] {
  const uids = new Set([record, ...all].map(({ metadata }) => metadata.uid))
  return all.filter(({ metadata, spec, status }) => {
    const isOwn = metadata.name === record.metadata.name || metadata.name === record.spec.source?.name
    return (
      !isOwn &&
      status?.deletionRequestedAt === undefined &&
      (spec.claimRef?.elasticIPUID === undefined || !uids.has(spec.claimRef.elasticIPUID))
    )
  })
}

/**
 * Whether another record has counted this one, so that this one need not count it. A new record counts all; one that
 * waited for its answer, and may never have counted, counts whoever has an address or was there before it.
 */
function isLater(other: ElasticIP, record: ElasticIP): boolean {
  if (record.status === undefined || reservationIdOf(other) !== undefined) return false
  const bornOf = ({ metadata }: ElasticIP) => `${metadata.creationTimestamp} ${metadata.name}`
  return bornOf(other) > bornOf(record)
}

function reached(where: string, holders: ElasticIP[], limit: number | undefined): string | undefined {
  if (limit === undefined || holders.length < limit) return undefined
  const named = holders.slice(0, maxNamed).map(holder)
  const rest = holders.length > named.length ? ` and ${holders.length - named.length} more` : ''
  return `the limit of ${limit} addresses ${where} is reached; they are held by ${named.join(', ')}${rest}`
}

function holder(record: ElasticIP): string {
  const { claimRef } = record.spec
  const name = claimRef ? `${claimRef.namespace}/${claimRef.name}` : `ElasticIP ${record.metadata.name}`
  const phase = phaseOf(record)
  return phase === 'Bound' ? name : `${name} (${phase})`
}
