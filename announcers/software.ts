import type { KubeObject, Rule } from '../kube/objects.ts'
import type { Resource } from '../kube/resource.ts'
import type { Definition } from '../kube/definitions.ts'
import type { Annotation } from '../lib/annotation.ts'
import type { RequestAnnotations } from '../settings/service-policy.ts'
import type { Announcer, FormerConfiguration } from './announcer.ts'
import type { ConfiguredSessions, SoftwareCheck, SoftwareFacts } from './check.ts'
import type { LoadBalancer, LoadBalancerScheme, Reach } from './setting.ts'
import type { Remedy } from '../lib/remedy.ts'

/** The marks that a dialect's predecessor put on MetalLB objects. */
export type AnnouncerMarks = {
  label: { name: string; value: string }
  advertisement: string
  /** The domain of the labels by which a peer in a ConfigMap counts its Services. */
  counting: string
  /** The hold time that it writes into peers; empty if undefined, which the API server shows as 0s. */
  holdTime?: string
}

/** The facts that contain objects which configure BGP sessions. */
type SessionFactName = 'metallb' | 'ciliumSessions'

/**
 * Announcing software: everything about it that settings, reviews, caches and rights need. Its `Announcer` has its
 * configuration, and how it withdraws an address.
 */
export type Software<Kind extends LoadBalancer['kind'] = LoadBalancer['kind']> = {
  /** The schemes of the load balancer setting that choose it. */
  schemes: Readonly<Record<string, LoadBalancerScheme>>
  /** The reach that it needs; absent if it needs none. */
  needs?: Reach
  /** The kinds of the setting that these schemes give. */
  kinds: readonly Kind[]
  /** Its annotations on Services, for the reference. */
  annotations?: readonly Annotation[]
  /** Every annotation by which a Service can request an address from it. */
  requestAnnotations?: readonly string[]
  /** How a Service requests an address if the setting chooses this software. */
  requests(loadBalancer: LoadBalancer & { kind: Kind }): RequestAnnotations
  /** Annotations that keep it from announcing anything for a Service, whatever the setting is. */
  silencing?: Readonly<Record<string, string>>
  /** The classes of Services that it announces, unless its own settings change them. */
  classes?: readonly string[]
  /** Whether it refuses an address of a family that the Service does not have. */
  matchesFamilies?: true
  /** Whether a Service can have an address of each family at the same time; absent if it cannot. */
  announcesBoth?(loadBalancer: LoadBalancer & { kind: Kind }): boolean
  /** Whether it reads BGP peers, with their passwords, from the annotations of nodes. */
  readsNodePeers?: true
  /** The command that shows which BGP sessions are up. */
  sessionsCommand?(loadBalancer: LoadBalancer & { kind: Kind }): Remedy
  /** Whether it reads a document instead of objects, according to the CRDs in the cluster. */
  readsDocument?(loadBalancer: LoadBalancer, definitions: readonly Definition[]): boolean
  checks?: readonly SoftwareCheck[]
  /** The BGP sessions that it is configured with, even if the setting chooses other software. */
  sessions?: {
    needs: readonly SessionFactName[]
    configured(facts: Pick<SoftwareFacts, SessionFactName>): ConfiguredSessions[]
  }
  /** The kinds whose objects make it announce even after we are removed, and instructions for people to end that. */
  left?: { kinds: readonly Resource<KubeObject>[]; texts(objects: readonly KubeObject[]): string[] }
  /** The rights to configure it, in any namespace. */
  rules?: readonly Rule[]
  announcer(loadBalancer: LoadBalancer & { kind: Kind }, marks: AnnouncerMarks): Announcer
  /** Its configurations that we may have written under another setting than this one. */
  former?(loadBalancer: LoadBalancer, marks: AnnouncerMarks): FormerConfiguration | undefined
}
