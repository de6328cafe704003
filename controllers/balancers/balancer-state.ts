import type { Balancer, BalancerAnnotations, ListedBalancer, Origin, OriginPool } from '../../clouds/ports/balancers.ts'
import type { Service } from '../../kube/objects.ts'
import { balancerRequestAnnotation } from '../../ledger/record/names.ts'
import { statusAddresses } from '../../ledger/record/address-use.ts'
import type { Want } from '../../ledger/want/want.ts'
import type { BalancerNames } from './balancer-names.ts'
import type { NodeOrigins } from './node-origins.ts'

/** The facts that the plan for a Service's balancer depends on. */
export type BalancerSeen = NodeOrigins & {
  service: Service
  wanted: Want
  annotations: BalancerAnnotations
  names: BalancerNames
  /** Every balancer of the project that is the Service's by name, the one in use first. */
  found: Balancer[]
  /** A balancer that the annotation names, but that is not the Service's. */
  foreign: ListedBalancer | undefined
  pools: OriginPool[]
  origins: ReadonlyMap<string, Origin[]>
  /** Whether a request for a balancer may still succeed, or the provider's answers about one contradict each other. */
  isInFlight: boolean
}

/** The balancer that a Service's annotation names, whoever wrote it. */
export function namedBalancer({ metadata }: Service, { id }: BalancerAnnotations): string | undefined {
  return metadata.annotations?.[id] || undefined
}

/** The request that may still succeed, according to the Service. */
export function requestOf({ metadata }: Service): string | undefined {
  return metadata.annotations?.[balancerRequestAnnotation]
}

/**
 * Orders the balancers of a Service by how likely each is its own. The one that it names comes first, then the one
 * whose addresses it shows, then the oldest.
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
