import { type ElasticIP, phaseOf, reservationIdOf } from '../record/elastic-ip.ts'

/** How many addresses there may be; undefined is no limit. */
export type Limits = { cluster: number | undefined; namespace: number | undefined }

/** Why a record exceeds a limit, as its user is to read it; undefined where it exceeds none. */
export type LimitCheck = (record: ElasticIP, signal: AbortSignal) => Promise<string | undefined>

/** How many holders a refusal names: enough to know whom to ask. */
const maxNamed = 10

/**
 * Why a record exceeds a limit, among all records that exist; it may be among them already. Each claim writes its
 * record before it counts. So of claims that race for the last place none passes wrongly: the last to write sees all
 * others.
 */
export function overLimit(record: ElasticIP, all: ElasticIP[], limits: Limits): string | undefined {
  const others = otherAddresses(record, all).filter((other) => !isCountedLater(other, record))
  const namespace = record.spec.claimRef?.namespace
  const neighbours = others.filter(({ spec }) => spec.claimRef?.namespace === namespace)
  const namespaceLimit = namespace === undefined ? undefined : limits.namespace
  return (
    limitReason(
      { where: `in namespace ${namespace}`, flag: '--max-addresses-per-namespace' },
      neighbours,
      namespaceLimit,
    ) ?? limitReason({ where: 'in the cluster', flag: '--max-addresses' }, others, limits.cluster)
  )
}

/** One record for each address besides the record's own. */
function otherAddresses(record: ElasticIP, all: ElasticIP[]): ElasticIP[] {
  const own = [record.metadata.name, record.spec.source?.name]
  return countedAddresses([record, ...all]).filter((one) => one !== record && !own.includes(one.metadata.name))
}

/**
 * One record for each address. A claimed available address counts with its Service's record, not with its source; a
 * deleted reservation does not count, however long the cloud takes.
 */
export function countedAddresses(all: readonly ElasticIP[]): ElasticIP[] {
  const uids = new Set(all.map(({ metadata }) => metadata.uid))
  return all.filter(
    ({ spec, status }) =>
      status?.deletionRequestedAt === undefined &&
      (spec.claimRef?.elasticIPUID === undefined || !uids.has(spec.claimRef.elasticIPUID)),
  )
}

/**
 * Whether another record counts this one, so that this one need not count it. A new record counts all. One that waited
 * for its answer may never have counted; it counts records that have a reservation or are older than itself.
 */
function isCountedLater(other: ElasticIP, record: ElasticIP): boolean {
  if (record.status === undefined || reservationIdOf(other) !== undefined) return false
  const ageOrder = ({ metadata }: ElasticIP) => `${metadata.creationTimestamp} ${metadata.name}`
  return ageOrder(other) > ageOrder(record)
}

function limitReason(
  { where, flag }: { where: string; flag: string },
  holders: ElasticIP[],
  limit: number | undefined,
): string | undefined {
  if (limit === undefined || holders.length < limit) return undefined
  const named = holders.slice(0, maxNamed).map(holderName)
  const rest = holders.length > named.length ? ` and ${holders.length - named.length} more` : ''
  const holdersText = holders.length > 0 ? `; they are held by ${named.join(', ')}${rest}` : ''
  return `the limit of ${limit} addresses ${where} is reached (${flag})${holdersText}`
}

function holderName(record: ElasticIP): string {
  const { claimRef } = record.spec
  const name = claimRef ? `${claimRef.namespace}/${claimRef.name}` : `ElasticIP ${record.metadata.name}`
  const phase = phaseOf(record)
  return phase === 'Bound' ? name : `${name} (${phase})`
}
