import { nameOfChoice } from '../../../announcers/setting.ts'
import { compareReservations } from '../../doctor/checks/reservations.ts'
import type { Context } from '../../../inspect/facts.ts'
import { checked } from './checked.ts'
import { unreadFindings, valueOf, valuesOf } from './fact-values.ts'
import type { TakeoverFacts } from './facts.ts'
import type { PlanInput } from './plan-input.ts'
import { planNodes } from './plan-nodes.ts'
import { planObjects } from './plan-objects.ts'
import { leaseOf, planLease } from './plan-lease.ts'
import { planPredecessor } from './plan-predecessor.ts'
import { planReservations } from './plan-reservations.ts'
import { planServices } from './plan-services.ts'
import { planStatus, statusFinding } from './plan-status.ts'
import type { Finding, Findings, TakeoverPlan } from './plan.ts'
import { plannedSettings, settingsWarnings } from './planned-settings.ts'

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
  const status = planStatus({
    progress: valueOf(facts.progress),
    lock: valueOf(facts.lock),
    workloads: programs.predecessor.workloads,
    services: addresses.services,
    ours: { namespace: leaseNamespace, name: leaseName },
    leases: valueOf(facts.leases) ?? [],
    now: context.now,
  })
  const parts = [programs, translation, checked(facts, context), addresses, network]
  return {
    formatVersion: 1,
    cluster: { id: valueOf(facts.cluster)?.id ?? '', server: valueOf(facts.server)?.version ?? '' },
    predecessor: programs.predecessor,
    target: { namespace, leaseNamespace, leaseName },
    status,
    settings: plannedSettings({ ...input, flags }),
    services: addresses.services,
    reservations: addresses.reservations,
    nodes: network.nodes,
    announcer: network.announcer,
    blockers: distinct([...unreadFindings(facts), ...parts.flatMap(({ blockers }) => blockers)]),
    warnings: distinct([
      ...statusFinding(status),
      ...parts.flatMap(({ warnings }) => warnings),
      ...settingsWarnings(context),
    ]),
    cost: costOf(addresses.reservations),
  }
}

/** The predecessor's workloads and its lease. */
function planPrograms(input: PlanInput): Findings & Pick<TakeoverPlan, 'predecessor'> {
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

function planAddresses(
  facts: TakeoverFacts,
  context: Context,
): Findings & Pick<TakeoverPlan, 'services' | 'reservations'> {
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
): Findings & Pick<TakeoverPlan, 'nodes' | 'announcer'> {
  const seen = valuesOf(facts, ['nodes', 'machines', 'peers', 'metallb', 'bgpSecret', 'document', 'definitions'])
  const announcer = { name: nameOfChoice(context.vendor.loadBalancer), objects: [], interruptedSessions: 0 }
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

/** A takeover neither reserves nor deletes: what the project pays for is the same before and after. */
function costOf(reservations: TakeoverPlan['reservations']): TakeoverPlan['cost'] {
  const { length } = reservations.filter(({ whose }) => whose !== 'other-cluster')
  return { addressesBefore: length, addressesAfter: length }
}

function distinct(findings: Finding[]): Finding[] {
  const seen = new Map(findings.map((one) => [`${one.reason} ${one.where} ${one.what}`, one]))
  return [...seen.values()]
}
