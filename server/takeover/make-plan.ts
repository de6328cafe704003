import { cloudAccess, cloudPace, clusterId } from '../doctor/checks/cloud.ts'
import { kubeVip, metallbDefinitions, metallbPrograms } from '../doctor/checks/announcers.ts'
import { metallbReports } from '../doctor/checks/announcing.ts'
import { apiServerVersion } from '../doctor/checks/api-server.ts'
import { controlPlaneReservation } from '../doctor/checks/control-plane.ts'
import { nodeMachines, providerIds, uninitializedNodes } from '../doctor/checks/nodes.ts'
import { overlappingPools } from '../doctor/checks/pools.ts'
import { compareReservations } from '../doctor/checks/reservations.ts'
import type { Check, Result } from '../doctor/check.ts'
import type { Context, Facts } from '../doctor/facts.ts'
import { chartValuesOf } from './chart-values.ts'
import type { TakeoverFacts } from './facts.ts'
import type { FoundPredecessors } from './find-predecessor.ts'
import type { GivenSettings } from './given-settings.ts'
import type { Finding, ObjectRef, PlannedSettings, TakeoverPlan } from './plan.ts'
import { planNodes } from './plan-nodes.ts'
import { planObjects } from './plan-objects.ts'
import { planLease, planPredecessor } from './plan-predecessor.ts'
import { planReservations } from './plan-reservations.ts'
import { planServices } from './plan-services.ts'
import type { Predecessor } from './predecessors.ts'
import type { Translation } from './translate.ts'

/** Everything that a plan is made of. */
export type PlanInput = {
  found: FoundPredecessors
  predecessor: Predecessor
  given: GivenSettings
  translation: Translation
  /** The flags of `serve` after the takeover: translated ones, and those that the person gave. */
  flags: Record<string, string>
  facts: TakeoverFacts
  context: Context
}

/** The Secret that the chart reads by default: it is in our own namespace. */
const secretName = 'eip-admission-cloud'
const secretKey = 'cloud-sa.json'

/** Errors of these checks are no reason to wait: the predecessor lives with the same, and nothing is touched there. */
const known: readonly Check[] = [providerIds, uninitializedNodes, nodeMachines, metallbReports, cloudPace]

/** The checks of `doctor` that make sense before we run. */
const checks: readonly Check[] = [
  apiServerVersion,
  cloudAccess,
  clusterId,
  metallbPrograms,
  metallbDefinitions,
  overlappingPools,
  kubeVip,
  controlPlaneReservation,
  ...known,
]

/** What a takeover does, and what stands in its way. Pure: facts in, plan out. */
export function makePlan(input: PlanInput): TakeoverPlan {
  const { translation, facts, context } = input
  const { namespace, leaseNamespace, leaseName } = context.settings.process
  const programs = planPrograms(input)
  const addresses = planAddresses(facts, context)
  const network = planNetwork(facts, context, addresses.services)
  const hasOrphans = addresses.reservations.some(({ whose }) => whose === 'orphan')
  // Until a person has seen what the predecessor left, nothing of it is given back.
  const flags = hasOrphans ? { '--sweep': 'report', ...input.flags } : input.flags
  const parts = [programs, translation, checked(facts, context), addresses, network]
  return {
    formatVersion: 1,
    cluster: { id: valueOf(facts.cluster)?.id ?? '', server: valueOf(facts.server)?.version ?? '' },
    predecessor: programs.predecessor,
    target: { namespace, leaseNamespace, leaseName },
    settings: plannedSettings({ ...input, flags }),
    services: addresses.services,
    reservations: addresses.reservations,
    nodes: network.nodes,
    announcer: network.announcer,
    blockers: distinct([...unreadFindings(facts), ...parts.flatMap(({ blockers }) => blockers)]),
    warnings: distinct([...parts.flatMap(({ warnings }) => warnings), ...settingsWarnings(context)]),
    cost: costOf(addresses.reservations),
  }
}

/** The predecessor's workloads and its lease. */
function planPrograms(input: PlanInput): Part & Pick<TakeoverPlan, 'predecessor'> {
  const { found, predecessor, facts, context } = input
  const { leaseNamespace, leaseName } = context.settings.process
  const isBegun = valueOf(facts.progress) !== undefined
  const { workloads, ...programs } = planPredecessor({
    found,
    predecessor,
    isBegun,
    programs: valueOf(facts.programs) ?? [],
    autoscalers: valueOf(facts.autoscalers) ?? [],
  })
  const { lease, ...leases } = planLease({
    ...leaseOf(input),
    isBegun,
    ours: { namespace: leaseNamespace, name: leaseName },
    leases: valueOf(facts.leases) ?? [],
    now: context.now,
  })
  const { id, title, finalizers } = predecessor
  const { usage } = context.vendor.marks
  return {
    predecessor: { id, title, workloads, lease, usage, finalizers: [...finalizers] },
    blockers: [...programs.blockers, ...leases.blockers],
    warnings: [...programs.warnings, ...leases.warnings],
  }
}

/** Where the predecessor's lease is, and whether it elects a leader. */
export function leaseOf({ predecessor, given }: Pick<PlanInput, 'predecessor' | 'given'>): {
  at: ObjectRef
  isUsed: boolean
} {
  const { flags } = given
  return {
    at: {
      namespace: flags['--leader-elect-resource-namespace'] ?? predecessor.lease.namespace,
      name: flags['--leader-elect-resource-name'] ?? predecessor.lease.name,
    },
    isUsed: !/^(0|f|false)$/i.test(flags['--leader-elect'] ?? 'true'),
  }
}

type Part = Pick<TakeoverPlan, 'blockers' | 'warnings'>

function planAddresses(facts: TakeoverFacts, context: Context): Part & Pick<TakeoverPlan, 'services' | 'reservations'> {
  const seen = valuesOf(facts, ['cluster', 'services', 'records', 'reservations', 'controlPlane'])
  if (!seen) return { services: [], reservations: [], blockers: [], warnings: [] }
  const sweep = compareReservations(seen, context)
  const services = planServices(seen, sweep.adopt, context)
  const reservations = planReservations({ facts: seen, services: services.services, sweep, context })
  return {
    services: services.services,
    reservations: reservations.reservations,
    blockers: [...services.blockers, ...reservations.blockers],
    warnings: [...services.warnings, ...reservations.warnings],
  }
}

function planNetwork(
  facts: TakeoverFacts,
  context: Context,
  services: TakeoverPlan['services'],
): Part & Pick<TakeoverPlan, 'nodes' | 'announcer'> {
  const seen = valuesOf(facts, ['nodes', 'machines', 'peers', 'metallb', 'bgpSecret', 'document', 'definitions'])
  const announcer = { name: context.vendor.loadBalancer.kind, objects: [], interruptedSessions: 0 }
  if (!seen) return { nodes: [], announcer, blockers: [], warnings: [] }
  const { nodes, peers, warnings } = planNodes(seen, context)
  const objects = planObjects({ ...seen, vendor: context.vendor, services, peers })
  return {
    nodes,
    announcer: objects.announcer,
    blockers: objects.blockers,
    warnings: [...warnings, ...objects.warnings],
  }
}

/** Findings of `doctor`: its errors stand in the way, unless the predecessor has lived with them. */
function checked(facts: TakeoverFacts, context: Context): Part {
  // The checks that we run need no other facts.
  const results = checks.map((check) => ({ check, results: check.run(facts as unknown as Facts, context) }))
  const of = (isBlocker: boolean) =>
    results.flatMap(({ check, results: all }) =>
      all
        .filter(({ level }) => level === 'error' || level === 'warning')
        .filter(({ level }) => (level === 'error' && !known.includes(check)) === isBlocker)
        .map(findingOf),
    )
  return { blockers: of(true), warnings: of(false) }
}

function findingOf({ check, section, what, why, fix }: Result): Finding {
  return {
    reason: check,
    where: section,
    what: why === undefined ? what : `${what}: ${why}`,
    remedy: fix ?? 'eip-admission doctor',
  }
}

/** What could not be read: a plan that does not know it would promise too much. */
function unreadFindings(facts: TakeoverFacts): Finding[] {
  return Object.entries(facts).flatMap(([name, fact]): Finding[] => {
    if (!('unread' in fact)) return []
    return [
      {
        reason: 'unread',
        where: name,
        what: `it could not be read: ${fact.unread}`,
        remedy: 'run takeover plan with the rights to read it; to read Secrets, as an administrator of the cluster',
      },
    ]
  })
}

function settingsWarnings({ settings, vendor }: Context): Finding[] {
  const location = vendor.policy.locationSources.some((one) => one.kind === 'setting' && one.value !== undefined)
  const texts = [...settings.warnings, ...vendor.unsupported]
  return [
    ...texts.map((what) => ({ reason: 'setting', where: 'settings', what, remedy: 'docs/reference/settings.md' })),
    ...(location || vendor.loadBalancer.kind === 'none' || vendor.loadBalancer.kind === 'emlb'
      ? []
      : [
          {
            reason: 'no-location',
            where: 'settings',
            what: 'no location is set: a new Service gets an address only if its annotation names one',
            remedy: `set ${vendor.policy.locationSources.map(({ name }) => name).join(' or ')}, as --metro, --facility or --region`,
          },
        ]),
  ]
}

function plannedSettings({ predecessor, given, translation, flags, context }: PlanInput): PlannedSettings {
  const { namespace } = context.settings.process
  const secret = { namespace, name: secretName, key: secretKey }
  const ref = given.file?.ref
  const merged = Object.keys(translation.merged)
  return {
    cloudProvider: predecessor.provider,
    flags,
    source: ref?.kind === 'Secret' ? { namespace: ref.namespace, name: ref.name, key: ref.key } : undefined,
    secret: {
      ...secret,
      fields: Object.keys(translation.file?.fields ?? {}),
      how: merged.length === 0 && ref?.kind === 'Secret' ? 'copy' : 'merge',
    },
    values: chartValuesOf({
      dialect: predecessor.dialect,
      cloudProvider: predecessor.provider,
      flags,
      secret,
      extraEnv: translation.extraEnv,
      loadBalancer: context.vendor.loadBalancer,
    }),
    notes: translation.notes,
  }
}

/** A takeover neither reserves nor deletes: what the project pays for is the same before and after. */
function costOf(reservations: TakeoverPlan['reservations']): TakeoverPlan['cost'] {
  const { length } = reservations.filter(({ whose }) => whose !== 'other-cluster')
  return { addressesBefore: length, addressesAfter: length }
}

function distinct(findings: Finding[]): Finding[] {
  const seen = new Map(findings.map((one) => [`${one.reason} ${one.where} ${one.what}`, one]))
  return [...seen.values()]
}

type Values = { [Name in keyof TakeoverFacts]: Extract<TakeoverFacts[Name], { value: unknown }>['value'] }

function valueOf<T>(fact: { value: T } | { unread: string }): T | undefined {
  return 'value' in fact ? fact.value : undefined
}

/** The values of these facts; undefined if one of them was not read. */
function valuesOf<Name extends keyof Values>(
  facts: TakeoverFacts,
  names: readonly Name[],
): Pick<Values, Name> | undefined {
  if (names.some((name) => 'unread' in facts[name])) return undefined
  const entries = names.map((name) => [name, valueOf<unknown>(facts[name])])
  // Each of them was read.
  return Object.fromEntries(entries) as Pick<Values, Name>
}
