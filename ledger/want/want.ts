import { isIP } from 'node:net'
import type { Location } from '../../clouds/cloud.ts'
import type { Service } from '../../kube/objects.ts'
import { keyOf } from '../../kube/objects.ts'
import { type AnnotationNames, unknownAnnotations } from './unknown-annotations.ts'
import { type ElasticIP, type ReclaimPolicy, provisionedSourceOf } from '../record/elastic-ip.ts'
import { type LocationSource, locate } from './location.ts'
import { elasticIPAnnotation, protectAnnotation, reclaimAnnotation } from '../record/names.ts'
import { type RequestAnnotations, multipleAddressAnnotation, ownAddress } from './own-address.ts'

/** What the operator decided for the whole cluster, as far as one Service is concerned. */
export type Policy = {
  loadBalancing: boolean
  excludedNamespaces: string[]
  /** `namespace/name` of the Service that mirrors the control plane: it has an address, but never one of these. */
  controlPlaneService: string
  locationSources: LocationSource[]
  /** Annotation of a Service that is `false` where somebody else gives it its address. */
  managedAnnotation?: string
  annotations: AnnotationNames
  requestAnnotations: RequestAnnotations
  reclaimPolicy: ReclaimPolicy
}

/**
 * What a Service wants of us.
 * `ignored`: it is none of our business, and what it may have stays as it is. `nothing`: it wants no address, and one
 * that it had goes back. `own`: it brought an address. `reserve`: it wants one. `named`: it wants the one of an ElasticIP
 * that a person has provisioned. `wrong`: every mistake in it, at once.
 */
export type Want =
  | { kind: 'ignored'; why: string }
  | { kind: 'nothing'; why: string }
  | { kind: 'own'; address: string; where: string }
  | { kind: 'reserve'; location: string; reclaim: ReclaimPolicy; warnings: string[] }
  | { kind: 'named'; elasticIP: string; warnings: string[] }
  | { kind: 'wrong'; problems: string[] }

/** Says what a Service wants. Webhooks and controllers all ask this, so they cannot disagree. */
export function want(service: Service, policy: Policy, known: Location[] | undefined): Want {
  const why = ignoredBecause(service, policy)
  if (why) return { kind: 'ignored', why }
  const { type = 'ClusterIP' } = service.spec
  if (type !== 'LoadBalancer') return { kind: 'nothing', why: `its type is ${type}` }
  const elsewhere = managedElsewhere(service, policy)
  if (elsewhere !== undefined) return { kind: 'nothing', why: `annotation ${elsewhere} is "false"` }
  return ofLoadBalancer(service, policy, known)
}

/** Whether what a Service wants is what a record holds, or waits for; where it cannot be told, it is. */
export function isWanted(record: ElasticIP, wanted: Want): boolean {
  switch (wanted.kind) {
    case 'nothing':
    case 'own':
      return false
    case 'reserve':
      return provisionedSourceOf(record) === undefined
    case 'named':
      return provisionedSourceOf(record) === wanted.elasticIP
    case 'ignored':
    case 'wrong':
      return true
  }
}

function ignoredBecause(service: Service, policy: Policy): string | undefined {
  const { namespace = '' } = service.metadata
  if (!policy.loadBalancing) return 'load balancing is off'
  if (policy.excludedNamespaces.includes(namespace)) return `namespace ${namespace} is excluded`
  if (keyOf(service) === policy.controlPlaneService) return 'it is the Service of the control-plane address'
  if (service.spec.loadBalancerClass !== undefined) return `its class is ${service.spec.loadBalancerClass}`
  const several = multipleAddressAnnotation(service, policy.requestAnnotations)
  if (several !== undefined) return `annotation ${several} asks for several addresses`
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

/** The annotation by which a Service was given to somebody else; what it had of us goes back, for nobody else would. */
function managedElsewhere({ metadata }: Service, { managedAnnotation: name }: Policy): string | undefined {
  return name !== undefined && metadata.annotations?.[name] === 'false' ? name : undefined
}

function ofLoadBalancer(service: Service, policy: Policy, known: Location[] | undefined): Want {
  const { annotations = {} } = service.metadata
  const problems = unknownAnnotations(annotations, policy.annotations)
  const managed = policy.managedAnnotation === undefined ? undefined : annotations[policy.managedAnnotation]
  if (managed !== undefined && managed !== 'true') {
    problems.push(`annotation ${policy.managedAnnotation}: "${managed}" is neither "true" nor "false"`)
  }
  const reclaim = annotations[reclaimAnnotation] ?? policy.reclaimPolicy
  if (reclaim !== 'Delete' && reclaim !== 'Retain') {
    problems.push(`annotation ${reclaimAnnotation}: "${reclaim}" is neither "Delete" nor "Retain"`)
  }
  const protect = annotations[protectAnnotation] ?? 'false'
  if (!['true', 'false'].includes(protect)) {
    problems.push(`annotation ${protectAnnotation}: "${protect}" is neither "true" nor "false"`)
  }
  const own = ownAddress(service, policy.requestAnnotations)
  const elasticIP = annotations[elasticIPAnnotation]
  if (elasticIP !== undefined) return named(service, { elasticIP, own, problems, policy })
  if (own !== undefined) {
    if (!isIP(own.address)) problems.push(`${own.where}: "${own.address}" is not an IP address`)
    return problems.length > 0 ? { kind: 'wrong', problems } : { kind: 'own', ...own }
  }
  const located = locate(annotations, policy.locationSources, known)
  if ('problem' in located) problems.push(located.problem)
  if (problems.length > 0 || 'problem' in located) return { kind: 'wrong', problems }
  return {
    kind: 'reserve',
    location: located.location,
    reclaim: reclaim === 'Retain' ? 'Retain' : 'Delete',
    warnings: located.warnings,
  }
}

type Named = { elasticIP: string; own: ReturnType<typeof ownAddress>; problems: string[]; policy: Policy }

/** Whatever else says where an address comes from, or what becomes of it, is said by the ElasticIP that was chosen. */
function named({ metadata }: Service, { elasticIP, own, problems, policy }: Named): Want {
  if (!/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/.test(elasticIP)) {
    problems.push(`annotation ${elasticIPAnnotation}: "${elasticIP}" is not the name of an ElasticIP`)
  }
  if (problems.length > 0) return { kind: 'wrong', problems }
  const { annotations = {} } = metadata
  const places = policy.locationSources.filter(({ kind }) => kind === 'annotation').map(({ name }) => name)
  const overruled = [...places, reclaimAnnotation].filter((name) => annotations[name] !== undefined)
  const said = overruled.map((name) => `annotation ${name}: "${annotations[name]}"`)
  if (own !== undefined) said.push(`${own.where}: "${own.address}"`)
  return {
    kind: 'named',
    elasticIP,
    warnings: said.map((what) => `${what} is ignored, ElasticIP ${elasticIP} decides`),
  }
}
