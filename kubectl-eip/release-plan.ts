import { type PossibleUsers, findUsers } from '../ledger/record/address-use.ts'
import {
  type ElasticIP,
  claimKey,
  isSecond,
  phaseOf,
  provisionedSourceOf,
  reservationIdOf,
} from '../ledger/record/elastic-ip.ts'
import { reclaimAnnotation } from '../ledger/record/names.ts'
import { isClaimed, isClaimedBy, isSource, isWarm, mayBeOperators } from '../ledger/record/source.ts'
import { addressOf } from './explain.ts'
import { typedName } from './reader.ts'

/** Why the address cannot be given back and what to do first, or the consequence of giving it back. */
export type ReleasePlan = { refusal: string } | { consequence: string }

/** Decides whether a person may give back the address of a record now. Pure. */
export function planRelease(record: ElasticIP, all: PossibleUsers): ReleasePlan {
  const refusal = refusalOf(record, all) ?? inUse(record, all)
  return refusal === undefined ? { consequence: consequenceOf(record) } : { refusal }
}

function refusalOf(record: ElasticIP, all: PossibleUsers): string | undefined {
  const { metadata, status } = record
  const { name } = metadata
  if (metadata.deletionTimestamp) {
    return `ElasticIP ${name} is already being deleted${status?.message === undefined ? '' : `: ${status.message}`}`
  }
  if (phaseOf(record) === 'Releasing') return `ElasticIP ${name} is already being released; it is deleted automatically`
  return isSource(record) ? refusalOfSource(record, all) : refusalOfOwn(record, all)
}

function refusalOfOwn(record: ElasticIP, all: PossibleUsers): string | undefined {
  const key = claimKey(record) ?? ''
  const address = addressOf(record)
  if (phaseOf(record) === 'Bound')
    return `Service ${key} has ${address}. ${deleteFirst(lenderOf(record, all) ?? record, all)}${orSingleStack(record)}`
  if (phaseOf(record) === 'Released') return undefined
  return (
    `${address} is for Service ${key}, which is about to have it. Delete the Service if it exists; ` +
    'an address without one is released automatically after 15 minutes'
  )
}

function refusalOfSource(record: ElasticIP, all: PossibleUsers): string | undefined {
  if (isClaimed(record)) return `Service ${claimKey(record)} has ${addressOf(record)}. ${deleteFirst(record, all)}`
  if (isWarm(record))
    return `${record.metadata.name} is in the warm pool, which would reserve another one. Lower --warm-pool instead`
  return undefined
}

/** The provisioned ElasticIP that lends its address to a Service's record: its reclaim policy decides. */
function lenderOf(record: ElasticIP, { records }: PossibleUsers): ElasticIP | undefined {
  const name = provisionedSourceOf(record)
  return records.find((source) => source.metadata.name === name && isClaimedBy(source, record))
}

function deleteFirst(record: ElasticIP, { records }: PossibleUsers): string {
  const { namespace, name } = record.spec.claimRef ?? {}
  const remove = `kubectl delete service -n ${namespace} ${name}`
  if (record.spec.reclaimPolicy === 'Delete') return `Delete the Service: \`${remove}\`; that releases the address`
  if (isSource(record))
    return `Delete the Service first: \`${remove}\`; then run \`kubectl eip release ${typedName(record, records)}\``
  return `Delete the Service first: \`${remove}\`; then run this again. With annotation ${reclaimAnnotation}: Delete one step is enough`
}

/** The advice for a second address, which can be given up without its Service. */
function orSingleStack(record: ElasticIP): string {
  if (!isSecond(record)) return ''
  const { namespace, name } = record.spec.claimRef ?? {}
  const patch = `kubectl patch service -n ${namespace} ${name} -p '{"spec":{"ipFamilyPolicy":"SingleStack"}}'`
  return `. To keep the Service with only its other address, remove this one: \`${patch}\``
}

function inUse(record: ElasticIP, all: PossibleUsers): string | undefined {
  const { address, reservationID } = record.status ?? {}
  const users = findUsers({ address, reservationID }, all, { records: [record.metadata.name] })
  if (users.length === 0) return undefined
  const named = users.slice(0, 5).map(({ kind, key, how }) => `${kind} ${key} ${how}`)
  return `${addressOf(record)} is in use: ${named.join(', ')}. Delete what uses it, or give that another address`
}

function consequenceOf(record: ElasticIP): string {
  const address = addressOf(record)
  const id = reservationIdOf(record)
  if (id === undefined) return `ElasticIP ${record.metadata.name} has no reservation; only the object is deleted.`
  const gone =
    `Its reservation ${id} is deleted at the provider: the project no longer pays for it, and the provider may give ` +
    `${address} to another customer immediately. You cannot undo this.`
  if (!mayBeOperators(record)) return gone
  return (
    `Services can no longer claim ${address}. A reservation that you ordered yourself stays, and the project continues ` +
    'paying for it. One that eip-admission reserved is deleted at the provider, and you cannot undo this.'
  )
}
