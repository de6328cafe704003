import { isIP } from 'node:net'
import type { Location } from '../clouds/cloud.ts'
import type { Service } from '../kube/objects.ts'
import { keyOf } from '../kube/objects.ts'
import { type AnnotationNames, unknownAnnotations } from './annotations.ts'
import type { ReclaimPolicy } from './elastic-ip.ts'
import { type LocationSource, locate } from './location.ts'
import { addressAnnotation, protectAnnotation, reclaimAnnotation } from './names.ts'

/** What the operator decided for the whole cluster, as far as one Service is concerned. */
export type Policy = {
  loadBalancing: boolean
  excludedNamespaces: string[]
  /** `namespace/name` of the Service that mirrors the control plane: it has an address, but never one of these. */
  controlPlaneService: string
  locationSources: LocationSource[]
  annotations: AnnotationNames
  reclaimPolicy: ReclaimPolicy
}

/**
 * What a Service wants of us.
 * `ignored`: it is none of our business, and what it may have stays as it is. `nothing`: it wants no address, and one
 * that it had goes back. `own`: it brought an address. `reserve`: it wants one. `wrong`: every mistake in it, at once.
 */
export type Want =
  | { kind: 'ignored'; why: string }
  | { kind: 'nothing'; why: string }
  | { kind: 'own'; address: string }
  | { kind: 'reserve'; location: string; reclaim: ReclaimPolicy; warnings: string[] }
  | { kind: 'wrong'; problems: string[] }

/** Says what a Service wants. Webhooks and controllers all ask this, so they cannot disagree. */
export function want(service: Service, policy: Policy, known: Location[] | undefined): Want {
  const why = ignoredBecause(service, policy)
  if (why) return { kind: 'ignored', why }
  const { type = 'ClusterIP' } = service.spec
  if (type !== 'LoadBalancer') return { kind: 'nothing', why: `its type is ${type}` }
  return ofLoadBalancer(service, policy, known)
}

function ignoredBecause(service: Service, policy: Policy): string | undefined {
  const { namespace = '' } = service.metadata
  if (!policy.loadBalancing) return 'load balancing is off'
  if (policy.excludedNamespaces.includes(namespace)) return `namespace ${namespace} is excluded`
  if (keyOf(service) === policy.controlPlaneService) return 'it is the Service of the control-plane address'
  if (service.spec.loadBalancerClass !== undefined) return `its class is ${service.spec.loadBalancerClass}`
  return refusedAnyway(service)
}

/** What the API server refuses a moment after us: an address reserved for it would only have to be given back. */
function refusedAnyway({ metadata, spec }: Service): string | undefined {
  if (spec.type !== 'LoadBalancer') return undefined
  const name = metadata.name || `${metadata.generateName?.slice(0, 58)}x`
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) return 'its name is not a DNS label'
  if (spec.clusterIP === 'None') return 'it is headless'
  return spec.ports?.length ? undefined : 'it has no ports'
}

function ofLoadBalancer(service: Service, policy: Policy, known: Location[] | undefined): Want {
  const { annotations = {} } = service.metadata
  const problems = unknownAnnotations(annotations, policy.annotations)
  const reclaim = annotations[reclaimAnnotation] ?? policy.reclaimPolicy
  if (reclaim !== 'Delete' && reclaim !== 'Retain') {
    problems.push(`annotation ${reclaimAnnotation}: "${reclaim}" is neither "Delete" nor "Retain"`)
  }
  const protect = annotations[protectAnnotation] ?? 'false'
  if (!['true', 'false'].includes(protect)) {
    problems.push(`annotation ${protectAnnotation}: "${protect}" is neither "true" nor "false"`)
  }
  const own = ownAddress(service)
  if (own !== undefined) {
    if (!isIP(own)) problems.push(`spec.loadBalancerIP: "${own}" is not an IP address`)
    return problems.length > 0 ? { kind: 'wrong', problems } : { kind: 'own', address: own }
  }
  const located = locate(annotations, policy.locationSources, known)
  if ('problem' in located) problems.push(located.problem)
  if (problems.length > 0 || 'problem' in located) return { kind: 'wrong', problems }
  return {
    kind: 'reserve',
    location: located.location,
    reclaim: reclaim === 'Retain' ? 'Retain' : 'Delete',
    warnings: located.ignored,
  }
}

/** The address that a person wrote into the Service; one that we wrote is not theirs. */
function ownAddress(service: Service): string | undefined {
  const { loadBalancerIP } = service.spec
  if (!loadBalancerIP || loadBalancerIP === service.metadata.annotations?.[addressAnnotation]) return undefined
  return loadBalancerIP
}
