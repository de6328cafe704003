import type { Location } from '../../clouds/ports/cloud.ts'
import { keyOf, type Service } from '../../kube/objects.ts'
import { type IpFamily, canonicalIpAddress } from '../../lib/ip-address.ts'
import { quote, closestWord } from '../../lib/text.ts'
import type { ReclaimPolicy } from '../record/elastic-ip.ts'
import { familiesWanted, familyWanted, type SecondWant } from './families.ts'
import { locate } from './location.ts'
import { managedProblems, managedWarnings } from './managed.ts'
import { isRetainForbidden } from './reclaim.ts'
import {
  addressAnnotation,
  elasticIPAnnotation,
  ownPrefix,
  reclaimAnnotation,
  isWrittenByUs,
  serviceAnnotations,
} from '../record/names.ts'
import {
  multipleAddressAnnotation,
  notAddress,
  type OwnAddress,
  ownAddress,
  requestedAddresses,
  requestMistakes,
} from './own-address.ts'
import {
  type AnnotationNames,
  hasClass,
  type ManagedPolicy,
  type Policy,
  type ValuePolicy,
} from '../../settings/service-policy.ts'
import type { Annotation } from '../../lib/annotation.ts'

export type Want =
  /** The Service is not ours to serve, and keeps an address that it has. */
  | { kind: 'ignored'; reason: string }
  /**
   * Another program serves the Service. We release only what we gave it. `requested`: the addresses that it requests
   * from that program, in canonical form.
   */
  | { kind: 'foreign'; reason: string; requested: OwnAddress[] }
  /** The Service requests no address, and loses the one that it had. */
  | { kind: 'nothing'; reason: string }
  /** The address is in canonical form. A doubtful one is announced only if the Service already shows it. */
  | { kind: 'own'; address: string; where: string; doubt?: OwnAddressDoubt }
  | {
      kind: 'reserve'
      location: string
      family: IpFamily
      /** The address of the other family, if the Service wants two. */
      second?: SecondWant
      reclaim: ReclaimPolicy
      /** Whether the Service states the policy. Otherwise the policy of an existing record applies. */
      isReclaimStated?: true
      warnings: string[]
    }
  | { kind: 'named'; elasticIP: string; family: IpFamily; warnings: string[] }
  /** The location of a new balancer. An existing one is not moved. */
  | { kind: 'managed'; location: string; warnings: string[] }
  /** `forbiddenAddress`: a user-chosen address that the Service must not keep, even if it shows it. */
  | { kind: 'wrong'; problems: string[]; forbiddenAddress?: string }

/**
 * Why a Service does not simply get its own address; undecided until the reservations of the project were read.
 * `sharesPort`: another Service is reached at the same address and port.
 */
export type OwnAddressDoubt = { reason: string; isDecided: boolean; sharesPort?: true }

/** Decides what a Service wants. Webhooks and controllers all call this function, so they cannot disagree. */
export function want(service: Service, policy: Policy, known: Location[] | undefined): Want {
  const reason = ignoredReason(service, policy)
  if (reason) return { kind: 'ignored', reason }
  const invalid = invalidReason(service)
  if (invalid) return { kind: 'ignored', reason: invalid }
  const foreign = foreignReason(service, policy)
  if (foreign) return wantOfOthers(service, policy, foreign)
  const { type = 'ClusterIP' } = service.spec
  if (type !== 'LoadBalancer') return { kind: 'nothing', reason: `its type is ${type}` }
  const optOut = optOutAnnotation(service, policy)
  if (optOut !== undefined) return { kind: 'nothing', reason: `annotation ${optOut} is "false"` }
  return wantOfLoadBalancer(service, policy, known)
}

/**
 * Makes a `want` for one policy that caches its result for each object, until the locations or their settings change.
 * Controllers look at all Services whenever one changes. A Service never changes after a cache or a webhook read it.
 */
export function wantsByFields(policy: Policy, locations: () => Location[] | undefined): (service: Service) => Want {
  let known = locations()
  let sources = policy.locationSources
  let wants = new WeakMap<Service, Want>()
  return (service) => {
    if (known !== locations() || sources !== policy.locationSources) {
      known = locations()
      sources = policy.locationSources
      wants = new WeakMap()
    }
    const wanted = wants.get(service) ?? want(service, policy, known)
    wants.set(service, wanted)
    return wanted
  }
}

function ignoredReason(service: Service, policy: Policy): string | undefined {
  const { namespace = '' } = service.metadata
  if (!policy.loadBalancing) return 'load balancing is off'
  if (policy.excludedNamespaces.includes(namespace)) return `namespace ${namespace} is excluded`
  if (keyOf(service) === policy.controlPlaneService) return 'it is the Service of the control-plane address'
  const { type, loadBalancerClass } = service.spec
  // The operator may have changed the setting, so a Service keeps its address.
  if (type === 'LoadBalancer' && loadBalancerClass === undefined && !hasClass(service, policy.classes))
    return `it has no class, and eip-admission serves Services of class ${policy.classes.join(', ')}`
  return undefined
}

function foreignReason(service: Service, { classes, requestAnnotations }: Policy): string | undefined {
  const { loadBalancerClass } = service.spec
  if (loadBalancerClass !== undefined && !hasClass(service, classes)) return `its class is ${loadBalancerClass}`
  const several = multipleAddressAnnotation(service, requestAnnotations)
  return several === undefined ? undefined : `annotation ${several} requests several addresses`
}

function wantOfOthers(service: Service, { classes, requestAnnotations }: Policy, reason: string): Want {
  // Requests to software of a class that we do not serve are not ours to judge.
  const problems = hasClass(service, classes) ? requestMistakes(service, requestAnnotations) : []
  if (problems.length > 0) return { kind: 'wrong', problems }
  return { kind: 'foreign', reason, requested: requestedAddresses(service, requestAnnotations) }
}

/** The API server's limit for the annotations of an object. */
const maxAnnotationBytes = 262_144

/** Why the API server will refuse a Service right after us: we would reserve an address only to release it. */
function invalidReason({ metadata, spec }: Service): string | undefined {
  // A mutating webhook sees them before the API server measures them, and reading them all would take seconds.
  if (annotationBytes(metadata) > maxAnnotationBytes)
    return `its annotations have more than ${maxAnnotationBytes} bytes`
  if (spec.type !== 'LoadBalancer') return undefined
  if (!metadata.name && !metadata.generateName) return 'it has no name'
  const name = metadata.name || `${metadata.generateName?.slice(0, 58)}x`
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) return 'its name is not a DNS label'
  if (spec.clusterIP === 'None') return 'it is headless'
  return spec.ports?.length ? undefined : 'it has no ports'
}

function annotationBytes({ annotations = {} }: Service['metadata']): number {
  return Buffer.byteLength(Object.entries(annotations).flat().join(''))
}

/** Space for the annotations that we write on a Service. */
const ownAnnotationBytes = 1024

/** Problems that would make the API server refuse a Service with our annotations after we reserved its address. */
function lackOfRoom({ metadata }: Service): string[] {
  const isShown = metadata.annotations?.[addressAnnotation] !== undefined
  const most = maxAnnotationBytes - ownAnnotationBytes
  if (isShown || annotationBytes(metadata) <= most) return []
  return [
    `its annotations have more than ${most} bytes, which leaves no room for the ones about its address: shorten them`,
  ]
}

/** The annotation by which a user gave a Service to another program. We release its address, because no other program would. */
export function optOutAnnotation({ metadata }: Service, { managedAnnotation: name }: Policy): string | undefined {
  return name !== undefined && metadata.annotations?.[name] === 'false' ? name : undefined
}

function wantOfLoadBalancer(service: Service, policy: Policy, known: Location[] | undefined): Want {
  const { annotations = {} } = service.metadata
  const problems = unknownAnnotations(annotations, policy.annotations)
  problems.push(...valueProblems(annotations, policy), ...lackOfRoom(service))
  if (policy.managed) return wantManaged(service, policy, { managed: policy.managed, problems })
  const stated = annotations[reclaimAnnotation]
  const own = ownAddress(service, policy.requestAnnotations)
  const elasticIP = annotations[elasticIPAnnotation]
  const isFromCloud = own === undefined || elasticIP !== undefined
  // A named ElasticIP is a single address.
  const { family, second, problem } =
    elasticIP === undefined ? familiesWanted(service, policy) : { ...familyWanted(service, policy), second: undefined }
  if (isFromCloud && problem !== undefined) problems.push(problem)
  if (elasticIP !== undefined) return named(service, { elasticIP, family, own, problems, policy })
  if (own !== undefined) {
    const address = canonicalIpAddress(own.address)
    if (address === undefined) problems.push(notAddress(own))
    return problems.length > 0 || address === undefined
      ? { kind: 'wrong', problems }
      : { kind: 'own', address, where: own.where }
  }
  const located = locate(annotations, policy.locationSources, known)
  if ('problem' in located) problems.push(located.problem)
  if (problems.length > 0 || 'problem' in located) return { kind: 'wrong', problems }
  return {
    kind: 'reserve',
    location: located.location,
    family,
    ...(second && { second }),
    reclaim: (stated ?? policy.reclaimPolicy) === 'Retain' ? 'Retain' : 'Delete',
    ...(stated !== undefined && { isReclaimStated: true }),
    warnings: located.warnings,
  }
}

function wantManaged(
  service: Service,
  { locationSources }: Policy,
  { managed, problems }: { managed: ManagedPolicy; problems: string[] },
): Want {
  const all = [...problems, ...managedProblems(service, managed)]
  if (all.length > 0) return { kind: 'wrong', problems: all }
  const warnings = managedWarnings(service, managed, locationSources)
  return { kind: 'managed', location: managed.location, warnings }
}

type Named = {
  elasticIP: string
  family: IpFamily
  own: ReturnType<typeof ownAddress>
  problems: string[]
  policy: Policy
}

/** The named ElasticIP decides location and reclaim policy; the Service's other annotations about them are ignored. */
function named({ metadata }: Service, { elasticIP, family, own, problems, policy }: Named): Want {
  if (!/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/.test(elasticIP)) {
    problems.push(`annotation ${elasticIPAnnotation}: ${quote(elasticIP)} is not the name of an ElasticIP`)
  }
  if (problems.length > 0) return { kind: 'wrong', problems }
  const { annotations = {} } = metadata
  const places = policy.locationSources.filter(({ kind }) => kind === 'annotation').map(({ name }) => name)
  const overruled = [...places, reclaimAnnotation].filter((name) => annotations[name] !== undefined)
  const ignored = overruled.map((name) => `annotation ${name}: ${quote(annotations[name] ?? '')}`)
  if (own !== undefined) ignored.push(`${own.where}: ${quote(own.address)}`)
  return {
    kind: 'named',
    elasticIP,
    family,
    warnings: ignored.map((what) => `${what} is ignored, ElasticIP ${elasticIP} decides`),
  }
}

/** A problem for each unknown annotation under our prefixes: ignoring it would hide a typo. */
function unknownAnnotations(annotations: Record<string, string>, names: AnnotationNames): string[] {
  const known = [...names.known, ...serviceAnnotations.map(({ name }) => name)]
  const prefixes = [...names.prefixes, ownPrefix]
  // Never propose an annotation that only we write.
  const proposed = known.filter((name) => !isWrittenByUs(name))
  const all = `known are ${proposed.join(', ')}`
  return Object.keys(annotations)
    .filter((name) => prefixes.some((prefix) => name.startsWith(prefix)) && !known.includes(name))
    .map((name) => {
      const near = closestWord(name, proposed, () => 6)
      const hint = near !== undefined ? `did you mean ${near}?` : all
      return `annotation ${name} (value ${quote(annotations[name] ?? '')}) is unknown; ${hint}`
    })
}

/** Returns the problems of annotations that allow only a few values. */
function valueProblems(annotations: Record<string, string>, policy: ValuePolicy): string[] {
  const { managedAnnotation: managed } = policy
  const isForbidden = isRetainForbidden(annotations[reclaimAnnotation], policy)
  const forbidden = `annotation ${reclaimAnnotation}: "Retain" is not allowed in this cluster (--allow-retain); remove it`
  return [
    ...(managed === undefined ? [] : otherValues(annotations, { name: managed, values: ['true', 'false'] })),
    ...(isForbidden ? [forbidden] : []),
    ...serviceAnnotations.flatMap((one) => otherValues(annotations, one)),
  ]
}

/** The problems of annotations whose value is not in their closed list. */
function otherValues(
  annotations: Record<string, string>,
  { name, values }: Pick<Annotation, 'name' | 'values'>,
): string[] {
  const given = annotations[name]
  if (given === undefined || typeof values === 'string' || values.includes(given)) return []
  return [`annotation ${name}: ${quote(given)} is neither ${values.map((value) => `"${value}"`).join(' nor ')}`]
}
