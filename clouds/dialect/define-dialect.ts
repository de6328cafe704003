import type { LoadBalancer, LoadBalancerScheme } from '../../announcers/setting.ts'
import type { Annotation } from '../../lib/annotation.ts'
import type { Secret } from '../../lib/secret.ts'
import { type ClusterSettings, common } from '../../settings/common.ts'
import type { Resolution, Sources } from '../../settings/resolve.ts'
import type { Flag, Setting, SettingsTable, ValuesOf } from '../../settings/setting.ts'
import type { BalancerAnnotations } from '../ports/balancers.ts'
import type { CloudProvider } from '../ports/cloud-provider.ts'
import type { Exchange } from '../ports/cloud.ts'
import type { ProxyEnvironment } from '../http/send.ts'
import type { Log } from '../../kube/log.ts'
import type { ObjectMeta } from '../../kube/objects.ts'
import type { Container } from '../../kube/workloads.ts'

/** A program that a dialect replaces, as installed by its own manifests and charts. */
export type DialectPredecessor = {
  id: string
  /** Its name for people. */
  title: string
  /** The end of its image's name, under any registry. */
  image: string
  /** Its name on a command line, under any path. */
  binary: string
  /** The major versions that we know. A tag without a number, such as `main`, names none. */
  versions: readonly number[]
  /** The first release with a service controller, which adds a finalizer to Services; absent if no release has one. */
  finalizesSince?: string
  /** Settings that older releases read under another name. */
  formerSettings?: readonly FormerSetting[]
  /** Its workload in its manifests. A chart names the workload after the release. */
  workload: { namespace: string; name: string }
  /** The Secret for its settings in its manifests, with the key. A chart gives the Secret another name. */
  secret: { namespace: string; name: string; key: string }
}

type Named = Pick<DialectPredecessor, 'image' | 'binary' | 'workload'>
/** Whether an image has the name of a program's image, under any registry. */
export function isImageOf({ image }: Pick<DialectPredecessor, 'image'>, seen: string): boolean {
  return new RegExp(`(^|/)${image}(?=[:@]|$)`).test(seen)
}

/**
 * The first program that one of these containers runs: by its image, or else by its command line or the name of its
 * workload. Companies build the same program under other image names.
 */
export function programIn<P extends Named>(
  programs: readonly P[],
  containers: readonly Container[],
  at?: ObjectMeta,
): { program: P; container: Container } | undefined {
  const isBinary = ({ binary }: P, { command = [], args = [] }: Container) =>
    [...command, ...args].some((word) => word.replace(/^.*\//, '') === binary)
  const isWorkload = ({ workload }: P) => at?.namespace === workload.namespace && at.name === workload.name
  const ways: ((container: Container) => P | undefined)[] = [
    ({ image = '' }) => programs.find((one) => isImageOf(one, image)),
    // A fork has the same names, and comes before the original in the list.
    (container) => programs.findLast((one) => isBinary(one, container)),
    (container) => (container === containers[0] ? programs.findLast(isWorkload) : undefined),
  ]
  for (const find of ways)
    for (const container of containers) {
      const program = find(container)
      if (program) return { program, container }
    }
  return undefined
}

/** A setting under a name that only releases before `until` read. */
export type FormerSetting = {
  until: string
  env?: string
  field?: string
  flag: Flag
  /** Translates the value for `flag`; absent if it stays the same. */
  translate?: (value: string) => string
}

/** The settings of a dialect. Commands need the two that every dialect has; the others are known only in its folder. */
type DialectRows = SettingsTable & {
  apiKey: Setting<Secret>
  loadBalancer: Setting<LoadBalancer>
}

/** The facts about a vendor's cloud in one dialect, without its client. */
export type DialectFacts = {
  name: string
  title: string
  /** The values of --cloud-provider that select it; its predecessor's manifests use the first. */
  providers: readonly string[]
  /** The prefix of its environment variables. */
  envPrefix: string
  /** The programs whose settings it reads. If an image matches several, the first wins. */
  predecessors: readonly DialectPredecessor[]
  /** The names by which the dialect and its predecessors recognize their own objects. */
  names: Pick<CloudProvider, 'marks' | 'announcerMarks'> & { controlPlaneService: string }
  rows: DialectRows
  /** Annotations whose names no setting can change. */
  annotations: readonly Annotation[]
  /** Any unknown annotation with this prefix on a Service is a mistake of the user. */
  annotationPrefix?: string
  /** The reference's note on the load balancer setting in this dialect, in Markdown. */
  loadBalancerNote?: string
  /** The provider's managed load balancers: the values of that setting, and how a Service shows its balancer. */
  managed?: { schemes: Readonly<Record<string, LoadBalancerScheme>>; annotations: BalancerAnnotations }
}

/** A cloud in one dialect: everything that settings, commands and manifests need of it. */
export type Dialect = DialectFacts & {
  /** The rows, and the common settings that they do not replace. */
  table: SettingsTable
  read(sources: Sources): Resolution<CloudSettings>
  /** Makes the client and its policy. It calls the provider only if a location is missing. */
  makeProvider(settings: CloudValues, tools: CloudTools): CloudProvider | Promise<CloudProvider>
}

/** The parts of the process that a provider needs. */
export type CloudTools = {
  userAgent: string
  proxy: ProxyEnvironment
  observe: (exchange: Exchange) => void
  log: Log
  signal: AbortSignal
  /** Whether this process reserves addresses, and so needs a location for them. */
  reserves: boolean
}

/** The values of the settings that every dialect has. */
export type CloudValues = ClusterSettings & { apiKey: Secret; loadBalancer: LoadBalancer }

export type CloudSettings = { dialect: Dialect; settings: CloudValues }

/** The names of a dialect that replaces no program. `domain` is the vendor's. */
export function ownNames(domain: string): DialectFacts['names'] {
  return {
    marks: { usage: 'eip-admission', separator: '/' },
    announcerMarks: {
      label: { name: 'app.kubernetes.io/managed-by', value: 'eip-admission' },
      advertisement: 'eip-admission',
      counting: `nomatch.${domain}`,
    },
    controlPlaneService: 'kube-system/eip-admission-kubernetes-external',
  }
}

/** Makes the settings of a dialect: the common settings, extended and partly replaced by its rows. */
export function defineDialect<const Rows extends DialectRows>(facts: DialectFacts & { rows: Rows }) {
  const table: Omit<typeof common, keyof Rows> & Rows = { ...common, ...facts.rows }
  return { ...facts, table }
}

export type SettingsOf<Defined extends { table: SettingsTable }> = ValuesOf<Defined['table']>
