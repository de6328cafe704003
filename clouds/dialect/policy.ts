import { softwareOf } from '../../announcers/announcers.ts'
import type { Policy, LocationSource, ManagedPolicy } from '../../settings/service-policy.ts'
import type { IpFamily } from '../../lib/ip-address.ts'
import type { ClusterSettings } from '../../settings/common.ts'
import type { LoadBalancer } from '../../announcers/setting.ts'

type Settings = ClusterSettings & { loadBalancer: LoadBalancer }

/** The part of the policy that differs between dialects. */
export type DialectPolicy = {
  /** The families of the addresses that Services can have; only IPv4 by default. */
  families?: readonly IpFamily[]
  /** The annotation by which a user excludes a Service. */
  managedAnnotation?: string
  /** Present if the provider's managed load balancers serve Services. */
  managed?: ManagedPolicy | undefined
  /** Settings that name a location for the whole cluster, the strongest first. */
  locationSettings: LocationSource[]
  /** Annotations by which a Service requests a location, the strongest first. */
  locationAnnotations?: LocationSource[]
}

/** The names by which Services configure things in a dialect. */
type DialectNames = {
  controlPlaneService: string
  /** The Service annotations of the dialect. */
  annotations: string[]
  /** The prefix of the dialect's annotations. An unknown annotation with it is a mistake of the user. */
  annotationPrefix: string | undefined
}

/** The prefixes of annotations that configure load balancers of other providers. */
const providerPrefixes = [
  'service.beta.kubernetes.io/',
  'cloud.google.com/',
  'networking.gke.io/',
  'load-balancer.hetzner.cloud/',
  'loadbalancer.openstack.org/',
  'metal.equinix.com/',
  'cherryservers.com/',
]

/** Makes the policy: the operator's choices for all Services of the cluster. */
export function makePolicy(settings: Settings, dialect: DialectPolicy, names: DialectNames): Policy {
  const { loadBalancer } = settings
  const { families = ['ipv4'], managedAnnotation, locationSettings, locationAnnotations = [] } = dialect
  const { controlPlaneService, annotationPrefix } = names
  const software = softwareOf(loadBalancer)
  const requestAnnotations = software?.requests(loadBalancer) ?? { annotations: [], besideSpec: true }
  const known = [...names.annotations, ...requestAnnotations.annotations]
  return {
    controlPlaneService,
    loadBalancing: loadBalancer.kind !== 'none',
    excludedNamespaces: settings.excludedNamespaces,
    classes: settings.loadBalancerClasses,
    reclaimPolicy: settings.defaultReclaimPolicy,
    allowRetain: settings.allowRetain,
    ...(managedAnnotation !== undefined && { managedAnnotation }),
    annotations: {
      known: [...new Set(known)],
      prefixes: annotationPrefix === undefined ? [] : [annotationPrefix],
      ineffective: providerPrefixes.filter((prefix) => !known.some((name) => name.startsWith(prefix))),
    },
    requestAnnotations,
    ...(dialect.managed && { managed: dialect.managed }),
    families,
    isDualStack: families.length > 1 && (software?.announcesBoth?.(loadBalancer) ?? false),
    matchesFamilies: software?.matchesFamilies ?? false,
    // The predecessors' code contradicted their READMEs: in the code the Service won, and the weaker source came first.
    locationSources: settings.serviceLocationWins
      ? [...locationAnnotations.toReversed(), ...locationSettings.toReversed()]
      : [...locationSettings, ...locationAnnotations],
  }
}
