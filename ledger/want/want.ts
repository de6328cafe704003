import { isIP } from 'node:net'
import type { Location } from '../../clouds/cloud.ts'
import type { Service } from '../../kube/objects.ts'
import { keyOf } from '../../kube/objects.ts'
import { type AnnotationNames, unknownAnnotations } from './unknown-annotations.ts'
import { type ElasticIP, type ReclaimPolicy, provisionedSourceOf } from '../record/elastic-ip.ts'
import { type LocationSource, locate } from './location.ts'
import { elasticIPAnnotation, protectAnnotation, reclaimAnnotation } from '../record/names.ts'
import { type RequestAnnotations, multipleAddressAnnotation, ownAddress } from './own-address.ts'

/** What the operator set for all Services of the cluster. */
export type Policy = {
  loadBalancing: boolean
  excludedNamespaces: string[]
  /** `namespace/name` of the Service that mirrors the control plane: its address never comes from the ledger. */
  controlPlaneService: string
  locationSources: LocationSource[]
  /** The annotation that a user sets to `false` where another program gives the Service its address. */
  managedAnnotation?: string
  annotations: AnnotationNames
  requestAnnotations: RequestAnnotations
  reclaimPolicy: ReclaimPolicy
}

/**
 * What a Service requests of us.
 *
 * | kind      | the Service                                        | what we do                                 |
 * | --------- | -------------------------------------------------- | ------------------------------------------ |
 * | `ignored` | is not ours to serve                               | nothing; an address that it has stays      |
 * | `nothing` | requests no address                                | we release the address that it had         |
 * | `own`     | names an own address                               | we announce that one and reserve none      |
 * | `reserve` | requests an address in a location                  | we claim one: warm if possible, else new   |
 * | `named`   | requests the address of a provisioned ElasticIP    | we claim that one                          |
 * | `wrong`   | is contradictory or misspelled; lists all mistakes | we change nothing until its user corrects it |
 */
export type Want =
  | { kind: 'ignored'; reason: string }
  | { kind: 'nothing'; reason: string }
  | { kind: 'own'; address: string; where: string }
  | { kind: 'reserve'; location: string; reclaim: ReclaimPolicy; warnings: string[] }
  | { kind: 'named'; elasticIP: string; warnings: string[] }
  | { kind: 'wrong'; problems: string[] }

/** Decides what a Service wants. Webhooks and controllers all call this function, so they cannot disagree. */
export function want(service: Service, policy: Policy, known: Location[] | undefined): Want {
  const reason = ignoredReason(service, policy)
  if (reason) return { kind: 'ignored', reason }
  const { type = 'ClusterIP' } = service.spec
  if (type !== 'LoadBalancer') return { kind: 'nothing', reason: `its type is ${type}` }
  const optOut = optOutAnnotation(service, policy)
  if (optOut !== undefined) return { kind: 'nothing', reason: `annotation ${optOut} is "false"` }
  return wantOfLoadBalancer(service, policy, known)
}

/** Whether a Service wants the address that its record holds or waits for. In doubt it does, so that none is released. */
export function isWanted(record: ElasticIP, wanted: Want): boolean {
  switch (wanted.kind) {
    case 'nothing':
      return false
    case 'own':
      // A user wrote the address that the record holds: it is the Service's after all.
      return record.status?.address === wanted.address
    case 'reserve':
      return provisionedSourceOf(record) === undefined
    case 'named':
      return provisionedSourceOf(record) === wanted.elasticIP
    case 'ignored':
    case 'wrong':
      return true
  }
}

function ignoredReason(service: Service, policy: Policy): string | undefined {
  const { namespace = '' } = service.metadata
  if (!policy.loadBalancing) return 'load balancing is off'
  if (policy.excludedNamespaces.includes(namespace)) return `namespace ${namespace} is excluded`
  if (keyOf(service) === policy.controlPlaneService) return 'it is the Service of the control-plane address'
  if (service.spec.loadBalancerClass !== undefined) return `its class is ${service.spec.loadBalancerClass}`
  const several = multipleAddressAnnotation(service, policy.requestAnnotations)
  if (several !== undefined) return `annotation ${several} requests several addresses`
  return invalidReason(service)
}

/** Why the API server will refuse a Service a moment after us: we would reserve an address only to release it. */
function invalidReason({ metadata, spec }: Service): string | undefined {
  if (spec.type !== 'LoadBalancer') return undefined
  const name = metadata.name || `${metadata.generateName?.slice(0, 58)}x`
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) return 'its name is not a DNS label'
  if (spec.clusterIP === 'None') return 'it is headless'
  return spec.ports?.length ? undefined : 'it has no ports'
}

/** The annotation by which a user gave a Service to another program. We release its address: no other program would. */
function optOutAnnotation({ metadata }: Service, { managedAnnotation: name }: Policy): string | undefined {
  return name !== undefined && metadata.annotations?.[name] === 'false' ? name : undefined
}

function wantOfLoadBalancer(service: Service, policy: Policy, known: Location[] | undefined): Want {
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

/** The named ElasticIP decides location and reclaim policy; the Service's other annotations about them are ignored. */
function named({ metadata }: Service, { elasticIP, own, problems, policy }: Named): Want {
  if (!/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/.test(elasticIP)) {
    problems.push(`annotation ${elasticIPAnnotation}: "${elasticIP}" is not the name of an ElasticIP`)
  }
  if (problems.length > 0) return { kind: 'wrong', problems }
  const { annotations = {} } = metadata
  const places = policy.locationSources.filter(({ kind }) => kind === 'annotation').map(({ name }) => name)
  const overruled = [...places, reclaimAnnotation].filter((name) => annotations[name] !== undefined)
  const ignored = overruled.map((name) => `annotation ${name}: "${annotations[name]}"`)
  if (own !== undefined) ignored.push(`${own.where}: "${own.address}"`)
  return {
    kind: 'named',
    elasticIP,
    warnings: ignored.map((what) => `${what} is ignored, ElasticIP ${elasticIP} decides`),
  }
}
