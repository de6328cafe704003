import type { Reservation } from '../../../clouds/ports/cloud.ts'
import { hasMarks } from '../../../clouds/ports/marks.ts'
import { type Service, keyOf } from '../../../kube/objects.ts'
import { isShownBy } from '../../../ledger/record/address-use.ts'
import { commonMarks, isRetained, namedCluster } from '../../../ledger/record/marks.ts'
import { type Surplus, type SweepPlan, planSweep } from '../../../ledger/sweep/sweep-plan.ts'
import { allRequestAnnotations } from '../../../ledger/users/possible-users.ts'
import { type Finding, defineCheck } from '../check.ts'
import type { Context, Values } from '../../../inspect/facts.ts'
import { schemeOf, wantOf } from '../../../inspect/wanted.ts'
import { shell } from '../../../lib/remedy.ts'

export const leakedReservations = defineCheck({
  id: 'leaked-reservations',
  section: 'Addresses',
  checks:
    'Every reservation with the marks of this cluster is needed by a Service or an ElasticIP, by the rules of the sweep.',
  good: 'every reservation of this cluster is needed',
  needs: ['cluster', 'services', 'records', 'reservations'],
  judge(seen, context) {
    const plan = compareReservations(seen, context)
    return [
      ...leftoverFindings(plan, seen.reservations, context),
      ...plan.adopt.map(({ key, reservation }) => adoptionFinding(key, reservation, context)),
    ]
  },
})

/** The findings about reservations that go to no Service. */
export function leftoverFindings(
  { suspects, surplus, untagged }: SweepPlan,
  reservations: readonly Reservation[],
  context: Context,
): Finding[] {
  const orphans = reservations.filter(({ id }) => suspects.has(id))
  return [
    ...orphans.map((one) => orphanFinding(one, context)),
    ...surplus.map((one) => surplusFinding(one, context)),
    ...untagged.map((one) => untaggedFinding(one, context)),
  ]
}

/** The plan that a sweep would make now. */
export function compareReservations(
  { cluster, services, records, reservations }: Pick<Values, 'cluster' | 'services' | 'records' | 'reservations'>,
  context: Context,
): SweepPlan {
  const scheme = schemeOf(cluster, context)
  const { unboundGraceMs: graceMs, sweepUntagged: sweepsUntagged } = context.settings.cluster
  return planSweep({
    reservations: reservations.filter(
      ({ marks }) => hasMarks(marks, commonMarks(scheme)) && namedCluster(scheme, marks) !== 'other',
    ),
    records,
    services: services.map((service) => ({ service, wanted: wantOf(service, context) })),
    requestAnnotations: allRequestAnnotations(context.vendor.policy.requestAnnotations),
    scheme,
    suspects: new Map(),
    graceMs,
    sweepsUntagged,
    keepsOrphans: context.settings.cluster.sweep === 'report',
  })
}

function reservationText({ id, address = 'not granted yet' }: Reservation): string {
  return `reservation ${id} (${address})`
}

function orphanFinding(reservation: Reservation, { settings, vendor }: Context): Finding {
  if (isRetained(reservation.marks)) return retainedFinding(reservation, vendor.cloud.name)
  const isKept = settings.cluster.sweep === 'report'
  return {
    level: 'warning',
    what: `${reservationText(reservation)} has the marks of this cluster, but no ElasticIP and no Service needs it`,
    why: isKept
      ? 'the project pays for it, and --sweep=report keeps it'
      : 'the project pays for it; two sweeps of the leader that agree release it after --unbound-grace',
    fix: `delete it at ${vendor.cloud.name} if nothing uses it${isKept ? ', or set --sweep=release' : ', or leave it to serve'}`,
  }
}

function retainedFinding(reservation: Reservation, cloud: string): Finding {
  return {
    level: 'warning',
    what: `${reservationText(reservation)} was retained, and its ElasticIP is lost`,
    why: 'the project pays for it; a Service of the previous name gets it again, and no sweep releases it',
    fix: shell`kubectl eip adopt ${reservation.id} --name NAME   # or delete it at ${cloud} if it is not needed`,
  }
}

function adoptionFinding(key: string, reservation: Reservation, { settings }: Context): Finding {
  const { leaseNamespace, leaseName } = settings.process
  return {
    level: 'warning',
    what: `${reservationText(reservation)} is for Service ${key}, but no ElasticIP holds it`,
    why: 'the next sweep of the leader adopts it; if this persists, no `serve` leads',
    fix: shell`kubectl get lease -n ${leaseNamespace} ${leaseName} -o yaml   # who leads, and since when`,
  }
}

function surplusFinding({ service, reservation }: Surplus, context: Context): Finding {
  const what = `${reservationText(reservation)} has the marks of Service ${keyOf(service)}`
  const { cloud } = context.vendor
  if (isShown(service, reservation, context))
    return {
      level: 'warning',
      what: `${what}, which shows its address but has no ElasticIP for it`,
      why: 'load balancing is off, or the Service has another ElasticIP: the reservation is kept until a person decides',
      fix: shell`kubectl describe service -n ${service.metadata.namespace} ${service.metadata.name}   # the address is in use: do not delete it at ${cloud.name}`,
    }
  return {
    level: 'warning',
    what: `${what}, which has another address`,
    why: 'it is kept and paid for until a person decides',
    fix: `delete it at ${cloud.name} if nothing uses it`,
  }
}

function isShown(service: Service, reservation: Reservation, { vendor }: Context): boolean {
  return isShownBy(service, reservation, allRequestAnnotations(vendor.policy.requestAnnotations))
}

function untaggedFinding(reservation: Reservation, { vendor }: Context): Finding {
  return {
    level: 'warning',
    what: `${reservationText(reservation)} names no cluster, and no Service here shows its address`,
    why: 'it may be another cluster of the project that needs it',
    fix: `delete it at ${vendor.cloud.name} if nothing uses it; if this is the only cluster, --sweep-untagged does it`,
  }
}
