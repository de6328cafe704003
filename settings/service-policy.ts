import type { Service } from '../kube/objects.ts'
import type { IpFamily } from '../lib/ip-address.ts'

/** Stands for Services without a class. */
export const withoutClass = 'none'

/** A class of Services, for people. */
export function classText(name: string): string {
  return name === withoutClass ? 'Services without a class' : `Services of the class ${name}`
}

/** Whether a Service has one of these classes. */
export function hasClass({ spec }: Service, classes: readonly string[]): boolean {
  return classes.includes(spec.loadBalancerClass ?? withoutClass)
}

/** The operator's settings for all Services of the cluster. */
export type Policy = ValuePolicy & {
  loadBalancing: boolean
  excludedNamespaces: string[]
  /** The classes of Services that we serve; `withoutClass` means none. */
  classes: readonly string[]
  /** `namespace/name` of the mirror Service of the control plane, whose address never comes from the ledger. */
  controlPlaneService: string
  locationSources: LocationSource[]
  annotations: AnnotationNames
  requestAnnotations: RequestAnnotations
  /** The families of the addresses that the provider has for Services. */
  families: readonly IpFamily[]
  /** Whether a Service can have an address of each family: the provider has both, and the announcing software shows both. */
  isDualStack: boolean
  /** Whether the announcing software refuses an address of a family that the Service lacks. */
  matchesFamilies: boolean
  /** Present if the provider's managed load balancers serve Services, instead of addresses from the ledger. */
  managed?: ManagedPolicy
}

/** The settings that restrict the values of Service annotations. */
export type ValuePolicy = {
  /** The annotation that a user sets to `false` if another program gives the Service its address. */
  managedAnnotation?: string
  reclaimPolicy: 'Delete' | 'Retain'
  /** Whether a Service may request that its reservation is retained. */
  allowRetain: boolean
}

/** A source of an address's location: a setting for the whole cluster, or an annotation of the Service. */
export type LocationSource =
  | { kind: 'setting'; word: string; name: string; value: string | undefined }
  | { kind: 'annotation'; word: string; name: string }

/** The operator's settings for managed load balancers of the provider. */
export type ManagedPolicy = {
  /** The location of new balancers. */
  location: string
  /** The setting that names this location. */
  setting: string
  /** The locations where the provider has managed load balancers. */
  locations: readonly { code: string; name: string }[]
  /** The annotations that show a Service's balancer: its id, and the code of its location. */
  annotations: { id: string; location: string }
}

/**
 * The annotations of a Service that the dialect reads, and the prefixes under which any other annotation is a mistake.
 * Those with an `ineffective` prefix are for other providers.
 */
export type AnnotationNames = { known: string[]; prefixes: string[]; ineffective?: string[] }

/** How a Service can request an address from the announcing software, besides `spec.loadBalancerIP`. */
export type RequestAnnotations = {
  annotations: string[]
  /** Whether the software accepts an annotation together with a `spec.loadBalancerIP` of the same address. */
  besideSpec: boolean
  /** The value that requests nothing. It is no one's own address. */
  nothing?: string
  /** The annotations in which we write the address of each Service. */
  written?: string[]
  /** The annotation by which Services may share an address. We write it if the user does not. */
  sharingKey?: string
  /** The annotations by which a Service chooses a pool: the software refuses an address of another pool. */
  pools?: readonly string[]
  /** The software that withdraws the address of a Service when one of these annotations is added. */
  stopsIfAdded?: string
}
