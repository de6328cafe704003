import { type Service, keyOf } from '../../../kube/objects.ts'
import type { Want } from '../../../ledger/want/want.ts'
import { parseIpAddress } from '../../../lib/ip-address.ts'
import type { Context } from '../../../inspect/facts.ts'
import type { Judging } from './judged.ts'
import type { Finding, Findings, PlannedService } from './plan.ts'

/** What of a Service stands in the way, or should be known before. */
export function findingsOf(
  service: Service,
  { before, after, held }: PlannedService,
  { wanted, own, context, reservation }: Judging,
): Findings {
  const at = `-n ${service.metadata.namespace} ${service.metadata.name}`
  const where = `Service ${keyOf(service)}`
  if (service.metadata.deletionTimestamp !== undefined && held !== 'ignored') return blockedBy(beingDeleted(where, at))
  if (held === 'pending' && before !== undefined) return blockedBy(missing(where, before, context))
  if (before !== undefined && before !== after) {
    const holder = reservation ? `reservation ${reservation.id}` : 'its record'
    const what = `it shows ${before}, but ${holder} has ${after ?? 'no address yet'}`
    const remedy = `make both the same before: kubectl describe service ${at}`
    return blockedBy({ reason: 'address-differs', where, what, remedy })
  }
  if (held === 'own' && before !== undefined)
    return { blockers: doubtful(where, before, { wanted, own, context }), warnings: [] }
  return { blockers: [], warnings: warningsOf({ where, at, wanted, held }) }
}

function blockedBy(finding: Finding): Findings {
  return { blockers: [finding], warnings: [] }
}

function beingDeleted(where: string, at: string): Finding {
  return {
    reason: 'service-being-deleted',
    where,
    what: 'it is being deleted, and the predecessor gives its address back',
    remedy: `wait until it is gone: kubectl wait --for=delete service ${at} --timeout=5m`,
  }
}

function warningsOf(of: { where: string; at: string; wanted: Want; held: PlannedService['held'] }): Finding[] {
  const { where, at, wanted, held } = of
  if (held !== 'pending') return []
  if (wanted.kind === 'wrong')
    return [
      {
        reason: 'contradictory-service',
        where,
        what: wanted.problems.join('; '),
        remedy: `correct it: kubectl edit service ${at}`,
      },
    ]
  return [
    {
      reason: 'service-pending',
      where,
      what: 'it has no address yet; `serve` reserves one for it, as the predecessor would',
      remedy: `nothing, or delete it before: kubectl delete service ${at}`,
    },
  ]
}

function missing(where: string, address: string, { vendor }: Context): Finding {
  return {
    reason: 'reservation-missing',
    where,
    what: `it shows ${address}, which no reservation of the project at ${vendor.cloud.name} has for it: the cloud may give the address to somebody else`,
    remedy: 'reserve it again at the cloud, or delete the Service and create it again; then run takeover plan again',
  }
}

/** Why an own address would not stay for certain. */
function doubtful(
  where: string,
  before: string,
  { wanted, own, context }: Pick<Judging, 'wanted' | 'own' | 'context'>,
): Finding[] {
  const problem =
    wanted.kind === 'wrong' ? wanted.problems.join('; ') : wanted.kind === 'own' ? wanted.doubt?.reason : undefined
  const address = parseIpAddress(before)
  if (problem === undefined || !address) return []
  const others = own.marksOfOthers(address)
  if (others)
    return [
      {
        reason: 'other-cluster',
        where,
        what: `it shows ${before}, whose reservation names another cluster (cluster=${others['cluster']})`,
        remedy: `if that is this cluster by a former id, as after a restore from a backup: takeover plan --cluster-id=${others['cluster']}`,
      },
    ]
  if (own.isReserved(address) === false && !own.isInRanges(address)) return [missing(where, before, context)]
  return [{ reason: 'own-address', where, what: problem, remedy: 'give it another address before the takeover' }]
}
