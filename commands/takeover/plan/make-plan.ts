import type { Check } from '../../doctor/check.ts'
import { softwareCheck } from '../../doctor/checks/announcers.ts'
import { doubledAddresses } from '../../doctor/checks/addresses.ts'
import { bgpPeers } from '../../doctor/checks/bgp.ts'
import { settingsWithoutEffect } from '../../doctor/checks/settings.ts'
import { apiServerVersion } from '../../doctor/checks/api-server.ts'
import { cloudAccess, cloudPace, clusterId, project } from '../../doctor/checks/cloud.ts'
import { controlPlaneReservation } from '../../doctor/checks/control-plane.ts'
import { nodeMachines, providerIds, uninitializedNodes } from '../../doctor/checks/nodes.ts'
import { valueOf } from '../../../inspect/fact.ts'
import type { Context, Facts, Values } from '../../../inspect/facts.ts'
import { shell } from '../../../lib/remedy.ts'
import { nameOfChoice } from '../../../announcers/setting.ts'
import { compareReservations } from '../../doctor/checks/reservations.ts'
import { rightsFinding } from '../rights.ts'
import { type PlanInput, readValues, unreadFindings } from './facts.ts'
import { planLeases, planStatus } from './plan-leases.ts'
import { planObjects } from './plan-objects.ts'
import { planPredecessor } from './plan-predecessor.ts'
import { planReservations } from './plan-reservations.ts'
import { planServices } from './plan-services.ts'
import { type Finding, type PlanFinding, type TakeoverPlan } from './plan.ts'
import { locationFinding, plannedSettings } from './planned-settings.ts'
import type { NodePeers } from '../../../announcers/announcer.ts'
import { peeringPlan } from '../../../controllers/peering/node-peering-plan.ts'
import { readProviderId } from '../../../controllers/nodes/provider-id.ts'
import { matchesRequirements } from '../../../lib/label-selector.ts'

/** Makes the plan of a takeover, with everything that blocks it. Pure: facts in, plan out. */
export function makePlan(input: PlanInput): TakeoverPlan {
  const { predecessor, translation, facts, context } = input
  const { namespace, leaseNamespace, leaseName } = context.settings.process
  const leases = planLeases(input)
  const { workloads, findings: ofWorkloads } = planPredecessor(input, leases)
  const addresses = planAddresses(input)
  const { services, reservations } = addresses
  const network = planNetwork(input, services)
  const status = planStatus(input, { ...leases, workloads, services })
  const findings = [
    unreadFindings(facts),
    rightsFinding(valueOf(facts.isAdministrator)),
    ofWorkloads,
    leases.findings,
    translation.findings,
    checked(input),
    addresses.findings,
    network.findings,
    locationFinding(context),
  ].flat()
  return {
    formatVersion: 1,
    cluster: { id: valueOf(facts.cluster)?.id ?? '', server: valueOf(facts.server)?.version ?? '' },
    predecessor: { id: predecessor.id, title: predecessor.title, workloads, lease: leases.lease },
    target: { namespace, leaseNamespace, leaseName },
    status,
    settings: plannedSettings({ ...input, flags: flagsAfter(input, reservations) }),
    services,
    reservations,
    nodes: network.nodes,
    announcer: network.announcer,
    blockers: distinct(findings.filter(({ isBlocker }) => isBlocker)),
    warnings: distinct(findings.filter(({ isBlocker }) => !isBlocker)),
  }
}

type Part<Name extends keyof TakeoverPlan> = Pick<TakeoverPlan, Name> & { findings: PlanFinding[] }

function planAddresses({ facts, context }: PlanInput): Part<'services' | 'reservations'> {
  const seen = readValues(facts, ['cluster', 'services', 'records', 'reservations', 'controlPlane'])
  if (!seen) return { services: [], reservations: [], findings: [] }
  const sweep = compareReservations(seen, context)
  const { services, findings } = planServices(seen, sweep.adopt, context)
  const { reservations, findings: more } = planReservations({ facts: seen, services, sweep, context })
  return { services, reservations, findings: [...findings, ...more] }
}

function planNetwork({ facts, context }: PlanInput, services: TakeoverPlan['services']): Part<'nodes' | 'announcer'> {
  const { vendor } = context
  const seen = readValues(facts, ['nodes', 'machines', 'peers', 'metallb', 'bgpSecret', 'document', 'definitions'])
  const nothing = { name: nameOfChoice(vendor.loadBalancer), objects: [], waves: 0 }
  if (!seen) return { nodes: [], announcer: nothing, findings: [] }
  const { nodes, peers } = planNodes(seen, context)
  return { nodes, ...planObjects({ ...seen, vendor, services, peers }) }
}

/** The flags after the takeover, with the mode of the sweep that the plan assumes, if there are leftovers. */
function flagsAfter({ flags }: PlanInput, reservations: TakeoverPlan['reservations']): Record<string, string> {
  return reservations.some(({ whose }) => whose === 'orphan') ? { '--sweep': 'report', ...flags } : flags
}

/** The findings as the plan shows them, without duplicates. */
function distinct(findings: readonly PlanFinding[]): Finding[] {
  const seen = findings.map(({ isBlocker: _level, ...one }) => [`${one.reason} ${one.where} ${one.what}`, one] as const)
  return [...new Map(seen).values()]
}

/** Errors of these checks do not block: the predecessor has the same problems, and a takeover does not change them. */
const known: readonly Check[] = [
  providerIds,
  uninitializedNodes,
  nodeMachines,
  softwareCheck('metallb-reports'),
  cloudPace,
  bgpPeers,
]

/** The checks of `doctor` that make sense before we run. */
const checks: readonly Check[] = [
  apiServerVersion,
  cloudAccess,
  clusterId,
  project,
  ...['metallb-programs', 'metallb-definitions', 'overlapping-pools', 'kube-vip'].map(softwareCheck),
  controlPlaneReservation,
  doubledAddresses,
  settingsWithoutEffect,
  ...known,
]

/**
 * The findings of `doctor`. Errors block, unless the predecessor runs with them, or a missing program may run unseen.
 */
function checked({ facts, context }: PlanInput): PlanFinding[] {
  return checks.flatMap((check) => {
    // The checks that we run need no other facts.
    const results = check.run(facts as unknown as Facts, context)
    const problems = results.filter(({ level }) => level === 'error' || level === 'warning')
    return problems.map(
      ({ check: reason, level, section, what, why, fix = shell`eip-admission doctor`, isUnseen }) => ({
        isBlocker: level === 'error' && !known.includes(check) && !isUnseen,
        reason,
        where: section,
        what: why === undefined ? what : `${what}: ${why}`,
        remedy: fix,
      }),
    )
  })
}

/** Plans the annotations of nodes about BGP peers as the peering controller would. Pure. */
function planNodes(
  { nodes, machines, peers }: Pick<Values, 'nodes' | 'machines' | 'peers'>,
  { vendor }: Context,
): Pick<TakeoverPlan, 'nodes'> & { peers: NodePeers[] } {
  const { isOn, annotations: scheme, selector } = vendor.bgp
  const plan = peeringPlan(scheme)
  const planned = nodes.map((node) => {
    const { name, labels = {}, annotations = {} } = node.metadata
    const providerId = readProviderId(node.spec.providerID, vendor.providerIds)
    const machine = providerId.kind === 'machine' ? providerId.id : ''
    const isSelected = matchesRequirements(labels, selector)
    const known = isOn && isSelected ? (peers.get(machine) ?? []) : []
    const { privateNetwork } = machines.find(({ id }) => id === machine) ?? {}
    const hostname = labels['kubernetes.io/hostname'] ?? name
    // Until its peers are known, a node keeps its annotations.
    const fact = known.length > 0 ? { node: name, hostname, peers: known, machine, privateNetwork } : undefined
    const step = isOn ? plan({ node, providerId, isSelected, fact, isDue: false }) : undefined
    const { wanted = {}, stale = [] } = step?.do === 'annotate' ? step : {}
    // Only names: a value may hold a password.
    const written = Object.keys(wanted).filter((one) => annotations[one] !== wanted[one])
    return { name, annotations: written.toSorted(), removed: stale.toSorted(), fact }
  })
  return {
    nodes: planned.map(({ fact: _fact, ...node }) => node),
    peers: planned.flatMap(({ fact }) => fact ?? []),
  }
}
