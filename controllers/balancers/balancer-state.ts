import type { Balancer, BalancerAnnotations, ListedBalancer, Origin, OriginPool } from '../../clouds/ports/balancers.ts'
import type { Service } from '../../kube/objects.ts'
import { balancerRequestAnnotation } from '../../ledger/record/names.ts'
import { statusAddresses } from '../../ledger/record/shown.ts'
import type { Want } from '../../ledger/want/want.ts'
import type { BalancerNames } from './balancer-names.ts'
import type { NodeOrigins } from './node-origins.ts'

/** Everything that the plan for the balancer of a Service depends on. */
export type BalancerSeen = NodeOrigins & {
  service: Service
  wanted: Want
  annotations: BalancerAnnotations
  names: BalancerNames
  /** Every balancer of the project that is the Service's by its name; the one in use first. */
  found: Balancer[]
  /** A balancer that the annotation names, and that is not the Service's. */
  foreign: ListedBalancer | undefined
  pools: OriginPool[]
  origins: ReadonlyMap<string, Origin[]>
  /** Whether a request for a balancer may still be carried out, or the cloud says two things about one. */
  isInFlight: boolean
}

/** The balancer that a Service names, whoever wrote it. */
export function namedBalancer({ metadata }: Service, { id }: BalancerAnnotations): string | undefined {
  return metadata.annotations?.[id] || undefined
}

/** The request that may still be carried out, as the Service shows it. */
export function requestOf({ metadata }: Service): string | undefined {
  return metadata.annotations?.[balancerRequestAnnotation]
}

/**
 * Puts the balancers of a Service into the order in which they may be its own. The one that it names is first, then the
 * one whose addresses it shows, then the oldest.
 */
export function inOrderOfUse(balancers: Balancer[], service: Service, annotations: BalancerAnnotations): Balancer[] {
  const named = namedBalancer(service, annotations)
  const shown = statusAddresses(service)
  const rank = ({ id, addresses }: Balancer) =>
    id === named ? 0 : addresses.some((address) => shown.includes(address)) ? 1 : 2
  return balancers.toSorted(
    (one, other) =>
      rank(one) - rank(other) ||
      (one.createdAt ?? '').localeCompare(other.createdAt ?? '') ||
      one.id.localeCompare(other.id),
  )
}
