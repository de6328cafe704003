// How an address gets from one Service to another. Only an address that nobody has can move. The first row decides.
//
//   the address                  | and                                        | move
//   -----------------------------+--------------------------------------------+----------------------------------
//   any                          | the target has an address, or one is kept  | refuses: it cannot be exchanged
//   of a provisioned ElasticIP   | a Service has it                           | refuses, and says the safe order
//   of a provisioned ElasticIP   | it is warm, or going                       | refuses
//   of a provisioned ElasticIP   | somebody shows it                          | refuses
//   of a provisioned ElasticIP   | otherwise                                  | names the target in its claimRef
//   of a Service's own ElasticIP | it is not Released                         | refuses, and says the safe order
//   of a Service's own ElasticIP | somebody shows it                          | refuses
//   of a Service's own ElasticIP | otherwise                                  | gives it a provisioned ElasticIP
import { type Key, type Service, splitKey } from '../kube/objects.ts'
import { type PossibleUsers, findUsers } from '../ledger/record/address-use.ts'
import {
  type ElasticIP,
  addressKeyOf,
  claimKey,
  phaseOf,
  recordName,
  reservationIdOf,
} from '../ledger/record/elastic-ip.ts'
import { addressAnnotation, reclaimAnnotation } from '../ledger/record/names.ts'
import { isClaimed, isSource, isWarm } from '../ledger/record/source.ts'
import { addressOf, shownAddress } from './explain.ts'

export type MoveSeen = {
  record: ElasticIP
  to: Key
  target: Service | undefined
  /** What an interrupted move of this address wrote. */
  all: PossibleUsers
}

export type MovePlan =
  | { refusal: string }
  /** Name the target in a provisioned ElasticIP. */
  | { do: 'set-claim'; claimRef: { namespace: string; name: string } }
  /** Write a provisioned ElasticIP for the reservation, then remove the former Service's record. */
  | { do: 'provision'; spec: ElasticIP['spec'] }

/** The one safe way for an address to another Service, or why there is none now. Pure. */
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
    ? `a Service cannot exchange its address. Delete it: ${deletion(to)}; then run this again, and create it anew`
    : `give that back first: kubectl eip release ${kept?.metadata.name}`
  return `Service ${to} has ${has}, and ${how}`
}

function sourceProblem({ record, to }: MoveSeen): string | undefined {
  const { name } = record.metadata
  const phase = phaseOf(record)
  if (isWarm(record)) return `ElasticIP ${name} is in the warm pool, for all Services`
  if (isClaimed(record)) {
    const from = claimKey(record) ?? ''
    return (
      `Service ${from} has ${addressOf(record)}, and two Services must never show one address. The safe order: ` +
      `1. ${deletion(from)} 2. kubectl eip move ${name} --to ${to} 3. create Service ${to}`
    )
  }
  if (record.metadata.deletionTimestamp || phase !== 'Available')
    return `ElasticIP ${name} is ${record.metadata.deletionTimestamp ? 'being deleted' : phase}, and only an Available address can move`
  return undefined
}

function ownProblem({ record, to }: MoveSeen): string | undefined {
  if (phaseOf(record) === 'Released' && !record.metadata.deletionTimestamp) return undefined
  const from = claimKey(record) ?? ''
  const { namespace, name } = splitKey(from)
  if (record.metadata.deletionTimestamp || phaseOf(record) === 'Releasing')
    return `${addressOf(record)} is being given back, and cannot move any more`
  const steps = [
    ...(record.spec.reclaimPolicy === 'Retain'
      ? []
      : [`kubectl annotate service -n ${namespace} ${name} --overwrite ${reclaimAnnotation}=Retain`]),
    deletion(from),
    `kubectl eip move ${addressKeyOf(record)} --to ${to}`,
    `create Service ${to}`,
  ]
  return (
    `Service ${from} has ${addressOf(record)}, and two Services must never show one address. The safe order: ` +
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
