import { softwareOf } from '../../announcers/announcers.ts'
import type { LoadBalancer } from '../../announcers/setting.ts'
import type { LabelRequirement } from '../../lib/label-selector.ts'
import { readSettings } from '../../settings/resolve.ts'
import type { VendorHttpOptions } from '../http/client.ts'
import type { Bgp, ProjectPeering } from '../ports/peering.ts'
import type { CloudProvider, Vendor } from '../ports/cloud-provider.ts'
import { peerFactNames, serviceAnnotationNames } from './annotations.ts'
import type { CloudTools, CloudValues, Dialect, DialectFacts, SettingsOf } from './define-dialect.ts'
import { type DialectPolicy, makePolicy } from './policy.ts'

/** The part of a provider that a vendor makes from its settings. The rest follows from the facts of the dialect. */
type VendorParts = Pick<CloudProvider, 'providerIds' | 'project'> &
  Partial<Pick<CloudProvider, 'loadBalancer' | 'controlPlaneBalancer' | 'managedBalancers' | 'unsupported'>> & {
    client: Vendor
    bgp?: DialectBgp
    /** The control-plane address; absent if the provider has none, or without a tag. */
    controlPlane?: { tag: string | undefined; port?: number; byHostAddress?: boolean }
    policy: DialectPolicy
  }

/** The settings about BGP: empty if the provider chooses everything. */
type DialectBgp = {
  project?: ProjectPeering
  selector?: LabelRequirement[] | undefined
  maxPrefixes?: number
}

/** The tools of the process for a vendor; `tuning` are the options for each of its clients. */
export type VendorTools = Pick<CloudTools, 'log' | 'signal' | 'reserves'> & {
  tuning: { userAgent: string } & Pick<VendorHttpOptions, 'proxy' | 'observe' | 'readTimeoutMs' | 'writeTimeoutMs'>
}

/** The value that defines a dialect: its facts, and the provider made from its settings. */
export function withProvider<Defined extends DialectFacts & Pick<Dialect, 'table'>>(
  defined: Defined,
  makeParts: (settings: SettingsOf<Defined>, tools: VendorTools) => VendorParts | Promise<VendorParts>,
): Dialect {
  const dialect: Dialect = {
    ...defined,
    read(sources) {
      const { values, ...rest } = readSettings(defined.table, sources)
      // The table has the common settings and a token, which TypeScript cannot see in a generic type.
      return { ...rest, values: values && { dialect, settings: values as unknown as CloudValues } }
    },
    makeProvider(settings, { userAgent, proxy, observe, ...tools }) {
      const { cloudTimeoutMs: writeTimeoutMs } = settings
      const tuning = { userAgent, proxy, observe, writeTimeoutMs, readTimeoutMs: writeTimeoutMs / 2 }
      const parts = makeParts(settings as unknown as SettingsOf<Defined>, { ...tools, tuning })
      const whole = (made: VendorParts) => wholeProvider(defined, settings, made)
      return parts instanceof Promise ? parts.then(whole) : whole(parts)
    },
  }
  return dialect
}

function wholeProvider(facts: DialectFacts, settings: CloudValues, parts: VendorParts): CloudProvider {
  const { client, policy, bgp = {}, controlPlane, ...others } = parts
  const { marks, announcerMarks, controlPlaneService } = facts.names
  const { loadBalancer = settings.loadBalancer } = parts
  const { tag, port = 0, byHostAddress = false } = controlPlane ?? {}
  return {
    unsupported: [],
    ...others,
    loadBalancer,
    cloud: client,
    machines: client,
    peering: client.peering,
    assignments: client.assignments,
    bgp: makeBgp(settings.loadBalancer, bgp, {
      names: peerFactNames(facts.rows, settings),
      outdated: facts.annotations.filter(({ on }) => on === 'Node').map(({ name }) => name),
    }),
    marks,
    announcerMarks,
    controlPlane: tag === undefined ? undefined : { tag, ...(port !== 0 && { port }), byHostAddress },
    policy: makePolicy({ ...settings, loadBalancer }, policy, {
      controlPlaneService,
      annotations: serviceAnnotationNames(facts, settings),
      annotationPrefix: facts.annotationPrefix,
    }),
  }
}

/** The announcing software decides whether BGP is on and whether annotations show passwords. */
function makeBgp(
  loadBalancer: LoadBalancer,
  { project = { asn: undefined, password: undefined }, selector = [], maxPrefixes }: DialectBgp,
  { names, outdated }: Pick<Bgp['annotations'], 'names' | 'outdated'>,
): Bgp {
  const software = softwareOf(loadBalancer)
  return {
    isOn: software !== undefined && software.needs !== 'assignment',
    project,
    selector,
    maxPrefixes,
    annotations: {
      names,
      // Anyone who may read nodes can read an annotation, so the password is there only if necessary.
      showsPasswords: software?.readsNodePeers ?? false,
      // Such software may read these instead of the current ones, and may change its choice at each start.
      outdated: software?.readsNodePeers ? outdated : [],
    },
  }
}
