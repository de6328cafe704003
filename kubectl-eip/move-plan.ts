// How an address moves from one Service to another. Only an address that nothing uses can move.
import { type Key, type Service, splitKey } from '../kube/objects.ts'
import { type PossibleUsers, findUsers } from '../ledger/record/address-use.ts'
import {
  type ElasticIP,
  claimKey,
  phaseOf,
  provisionedSourceOf,
  recordName,
  reservationIdOf,
} from '../ledger/record/elastic-ip.ts'
import { addressAnnotation, reclaimAnnotation } from '../ledger/record/names.ts'
import { exclusionReason, isClaimed, isClaimedBy, isSource, isWarm } from '../ledger/record/source.ts'
import { addressOf, shownAddress } from './explain.ts'
import { typedName } from './reader.ts'

export type MoveSeen = {
  record: ElasticIP
  to: Key
  target: Service | undefined
  /** The objects that an interrupted move of this address wrote. */
  all: PossibleUsers
}

export type MovePlan =
  | { refusal: string }
  /** Name the target in a provisioned ElasticIP. */
  | { do: 'set-claim'; claimRef: { namespace: string; name: string } }
  /** Write a provisioned ElasticIP for the reservation, then remove the former Service's record. */
  | { do: 'provision'; spec: ElasticIP['spec'] }

/** The only safe way to move an address to another Service, or why there is none now. Pure. */
export function planMove(seen: MoveSeen): MovePlan {
  const refusal =
    targetProblem(seen) ?? (isSource(seen.record) ? sourceProblem(seen) : ownProblem(seen)) ?? useProblem(seen)
  if (refusal !== undefined) return { refusal }
  const { namespace, name } = splitKey(seen.to)
  const claimRef = { namespace, name }
  if (isSource(seen.record)) return { do: 'set-claim', claimRef }
  const { location } = seen.record.spec
  const reservationID = reservationIdOf(seen.record)
  if (reservationID === undefined) return { refusal: `ElasticIP ${seen.record.metadata.name} has no reservation yet` }
  const place = location === undefined ? {} : { location }
  return { do: 'provision', spec: { reservationID, ...place, reclaimPolicy: 'Retain', claimRef } }
}

function targetProblem({ to, target, record, all }: MoveSeen): string | undefined {
  if (claimKey(record) === to && !isSource(record)) return `${addressOf(record)} is kept for Service ${to} already`
  const kept = all.records.find(({ metadata }) => metadata.name === recordName(to))
  const shown = target && (shownAddress(target) ?? target.metadata.annotations?.[addressAnnotation])
  const has = shown ?? kept?.status?.address
  if (has === undefined) return undefined
  const how = target
    ? `a Service cannot change its address. Delete it: \`${deletion(to)}\`; then run this again, and create it again`
    : `release that first: \`kubectl eip release ${kept?.metadata.name}\``
  return `Service ${to} has ${has}, and ${how}`
}

function sourceProblem({ record, to, all }: MoveSeen): string | undefined {
  const { name } = record.metadata
  const phase = phaseOf(record)
  if (isWarm(record)) return `ElasticIP ${name} is in the warm pool, for all Services`
  const isGoing = record.metadata.deletionTimestamp !== undefined || phase === 'Releasing'
  const excluded = isGoing ? undefined : exclusionReason(record, to)
  if (excluded !== undefined) return `ElasticIP ${name} ${excluded}. ${allowFirst(record, to)}`
  if (isClaimed(record) && !isGoing) {
    // The reservation would be deleted with its Service.
    const retain = `kubectl patch eip ${name} --type=merge -p '{"spec":{"reclaimPolicy":"Retain"}}'`
    return safeOrder(record, { retain, move: typedName(record, all.records), to })
  }
  if (isGoing || phase !== 'Available')
    return `ElasticIP ${name} is ${record.metadata.deletionTimestamp ? 'being deleted' : phase}, and only an Available address can move`
  return undefined
}

/** Admission checks the allowed namespaces as well as the claimRef, so no Service could get the address. */
function allowFirst({ metadata: { name }, spec }: ElasticIP, to: Key): string {
  const { namespace } = splitKey(to)
  const patch = JSON.stringify({ spec: { allowedNamespaces: [...(spec.allowedNamespaces ?? []), namespace] } })
  return `Allow namespace ${namespace} first: \`kubectl patch eip ${name} --type=merge -p '${patch}'\``
}

function ownProblem(seen: MoveSeen): string | undefined {
  const { record, to, all } = seen
  const lender = provisionedSourceOf(record)
  if (lender !== undefined) return lentProblem(seen, lender)
  if (phaseOf(record) === 'Released' && !record.metadata.deletionTimestamp) return undefined
  if (record.metadata.deletionTimestamp || phaseOf(record) === 'Releasing')
    return `${addressOf(record)} is being released, and can no longer move`
  const { namespace, name } = splitKey(claimKey(record) ?? '')
  const retain = `kubectl annotate service -n ${namespace} ${name} --overwrite ${reclaimAnnotation}=Retain`
  return safeOrder(record, { retain, move: typedName(record, all.records), to })
}

/**
 * The record of a Service that requests an address by name is removed with it. The named ElasticIP stays, and can move.
 */
function lentProblem(seen: MoveSeen, lender: string): string {
  const { record, to, all } = seen
  const source = all.records.find(({ metadata }) => metadata.name === lender)
  const problem = source && isClaimedBy(source, record) ? sourceProblem({ ...seen, record: source }) : undefined
  const advice = source && `. To move that one: \`kubectl eip move ${typedName(source, all.records)} --to ${to}\``
  return (
    problem ?? `Service ${claimKey(record)} requests ElasticIP ${lender}, and does not have its address${advice ?? ''}`
  )
}

/** The steps that move a record's address to another Service; without `retain` the reservation would be deleted. */
function safeOrder(record: ElasticIP, { retain, move, to }: { retain: string; move: string; to: Key }): string {
  const from = claimKey(record) ?? ''
  const steps = [
    ...(record.spec.reclaimPolicy === 'Retain' ? [] : [`\`${retain}\``]),
    `\`${deletion(from)}\``,
    `\`kubectl eip move ${move} --to ${to}\``,
    `create Service ${to}`,
  ]
  return (
    `Service ${from} has ${addressOf(record)}, and two Services must never show the same address. The safe order: ` +
    steps.map((step, n) => `${n + 1}. ${step}`).join(' ')
  )
}

function useProblem({ record, all }: MoveSeen): string | undefined {
  const { address, reservationID } = record.status ?? {}
  const users = findUsers({ address, reservationID }, all, { records: [record.metadata.name] })
  const [user] = users
  return user && `${addressOf(record)} is in use: ${user.kind} ${user.key} ${user.how}`
}

function deletion(key: Key): string {
  const { namespace, name } = splitKey(key)
  return `kubectl delete service -n ${namespace} ${name}`
}
