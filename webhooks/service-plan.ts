import { isDeepStrictEqual } from 'node:util'
import type { Location } from '../clouds/ports/cloud.ts'
import type { Service } from '../kube/objects.ts'
import {
  type ClusterFamilies,
  areFamiliesRefused,
  hasOpenFamilies,
  type SecondWant,
  withStoredFamilies,
} from '../ledger/want/families.ts'
import { doubleRequests } from '../ledger/want/own-address.ts'
import { howToTurnOn, isLeftOut } from '../ledger/want/load-balancing-off.ts'
import { type Want, want } from '../ledger/want/want.ts'
import { addressAnnotation, serviceFinalizer } from '../ledger/record/names.ts'
import type { Policy } from '../settings/service-policy.ts'
import { withoutOutdatedRequests } from './service-patch.ts'
import { ownRequests, annotatedAddress, newProblems } from './service-rules.ts'

/** A Service that is about to be stored, and the stored one. */
export type ServiceSeen = { service: Service; old: Service | null; dryRun?: boolean | undefined }

/** The facts that the process knows when it reviews a Service. */
export type PlanFacts = {
  policy: Policy
  /** The provider's locations, if known. */
  locations: Location[] | undefined
  families: ClusterFamilies
}

export type AddressWant = Extract<Want, { kind: 'reserve' | 'named' }>

export type ServicePlan =
  | { do: 'leave'; warnings?: string[] }
  | { do: 'take-address' }
  | { do: 'keep-own'; address: string; warnings: string[] }
  | { do: 'deny'; problems: string[] }
  | { do: 'restore'; shown: string }
  | { do: 'store-without'; warnings: string[] }
  | { do: 'preview' | 'claim'; wanted: AddressWant }
  | { do: 'preview-second' | 'claim-second'; wanted: AddressWant; second: SecondWant; shown: string }

/**
 * The fate of the address of a Service that is about to be stored. Pure. The first row that applies decides.
 *
 * | the Service wants | and                                              | plan                                    |
 * | ----------------- | ------------------------------------------------ | --------------------------------------- |
 * | nothing of ours   |                                                  | `leave` it as it is                     |
 * | nothing of ours   | load balancing is off                            | `leave` it, and warn once               |
 * | no address        |                                                  | `take-address`: remove what we wrote    |
 * | its own address   | that is ours, and the update dropped the mark    | `restore` what we wrote                 |
 * | its own address   | it shows one of ours: validation denies that     | `leave` it                              |
 * | its own address   |                                                  | `keep-own`: only our finalizer          |
 * | something wrong   | it was not as wrong before                       | `deny` it                               |
 * | something wrong   | it shows one of ours, and requests no other      | `restore` what the update dropped       |
 * | something wrong   | it shows one of ours: validation denies another  | `leave` it                              |
 * | something wrong   | it calls an address ours that we did not give    | `take-address`: remove what we wrote    |
 * | something wrong   | validation checks what it requests               | `leave` it                              |
 * | an address        | it shows one of ours, and wants a second one now | `claim-second`, or preview its claim    |
 * | an address        | it shows one of ours                             | `restore` what the update dropped       |
 * | an address        | the update changes nothing that decides about it | `store-without`                         |
 * | an address        | the number of its families is unknown            | `store-without`, and warn               |
 * | an address        | the API server will refuse its families          | `store-without`                         |
 * | an address        | it is a dry run                                  | `preview` the claim                     |
 * | an address        |                                                  | `claim` it                              |
 */
export function planService({ service, old, dryRun }: ServiceSeen, facts: PlanFacts): ServicePlan {
  const { policy, locations, families } = facts
  // Computed only when needed: most updates change none of our fields.
  const before = () => (old ? want(old, policy, locations) : undefined)
  const stored = withStoredFamilies(withoutOutdatedRequests(service, old, policy), old, families)
  const wanted = want(stored, policy, locations)
  switch (wanted.kind) {
    case 'ignored':
      return { do: 'leave', warnings: offWarnings({ service, old }, policy) }
    case 'foreign':
    // service-managed.ts decides about it.
    case 'managed':
      return { do: 'leave' }
    case 'nothing':
      return { do: 'take-address' }
    case 'own':
      return planOwn(stored, { own: wanted.address, ours: annotatedAddress(old) }, policy)
    case 'wrong': {
      const problems = newProblems(wanted, before())
      return problems.length > 0 ? { do: 'deny', problems } : planStillWrong(service, old, policy)
    }
    case 'reserve':
    case 'named':
      return planAddress(wanted, { seen: { service, old, dryRun }, before }, facts)
  }
}

/** Warns that the Service gets no address, but only once: on every other update it would be noise. */
function offWarnings({ service, old }: Pick<ServiceSeen, 'service' | 'old'>, policy: Policy): string[] {
  if (!isLeftOut(service, policy) || (old && isLeftOut(old, policy))) return []
  return [`eip-admission gives this Service no address: load balancing is off; ${howToTurnOn}`]
}

/**
 * Adapts a plan while another program holds our lease. That program serves the Service, and our finalizer would never
 * be removed. An address that we already hold stays ours. Pure.
 */
export function planBeside(leader: string, plan: ServicePlan, old: Service | null): ServicePlan {
  const isOurs = old?.metadata.finalizers?.includes(serviceFinalizer) ?? false
  const warning = besideWarning(leader)
  switch (plan.do) {
    case 'leave':
    case 'take-address':
    case 'deny':
    case 'restore':
      return plan
    case 'claim-second':
    case 'preview-second':
      return { do: 'restore', shown: plan.shown }
    case 'keep-own':
      return isOurs ? plan : { do: 'leave', warnings: [warning] }
    case 'store-without':
    case 'claim':
    case 'preview':
      return isOurs ? { do: 'store-without', warnings: [warning] } : { do: 'leave', warnings: [warning] }
  }
}

/** The message for a person whose Service is left to the leading program. */
export function besideWarning(leader: string): string {
  return `${leader} leads this cluster instead of eip-admission: no address is reserved until eip-admission leads`
}

function planOwn(
  service: Service,
  { own, ours }: { own: string; ours: string | undefined },
  { requestAnnotations }: Policy,
): ServicePlan {
  if (own === ours) return { do: 'restore', shown: own }
  // The validating webhook needs our annotation for its message.
  if (ours !== undefined) return { do: 'leave' }
  const [double] = requestAnnotations.besideSpec ? [] : doubleRequests(service, requestAnnotations)
  return { do: 'keep-own', address: own, warnings: double === undefined ? [] : [doubleText(double)] }
}

function doubleText(annotation: string): string {
  return (
    `the announcing software refuses a Service with spec.loadBalancerIP and annotation ${annotation}: ` +
    'keep the annotation, and remove spec.loadBalancerIP, which Kubernetes has deprecated'
  )
}

/** An operator's setting may have made the Service wrong. It keeps its address, but gets none by calling one ours. */
function planStillWrong(service: Service, old: Service | null, policy: Policy): ServicePlan {
  const shown = annotatedAddress(old)
  if (shown === undefined) return { do: annotatedAddress(service) === undefined ? 'leave' : 'take-address' }
  return ownRequests(service, old, policy).addresses.length > 0 ? { do: 'leave' } : { do: 'restore', shown }
}

function planAddress(
  wanted: AddressWant,
  { seen: { service, old, dryRun }, before }: { seen: ServiceSeen; before: () => Want | undefined },
  { policy, families }: PlanFacts,
): ServicePlan {
  const { warnings } = wanted
  const shown = annotatedAddress(old)
  if (shown !== undefined) {
    const second = secondWantOf(wanted)
    const isAdded = second && !secondWantOf(before()) && !areFamiliesRefused(service, old, families)
    return isAdded
      ? { do: dryRun ? 'preview-second' : 'claim-second', wanted, second, shown }
      : { do: 'restore', shown }
  }
  const wantedBefore = before()
  if (old && wantedBefore && !touchesAddress({ service, old }, { now: wanted, before: wantedBefore }))
    return { do: 'store-without', warnings }
  if (policy.matchesFamilies && hasOpenFamilies(service, old, families))
    return { do: 'store-without', warnings: [...warnings, openFamilies] }
  if (areFamiliesRefused(service, old, families)) return { do: 'store-without', warnings }
  return { do: dryRun ? 'preview' : 'claim', wanted }
}

/** The address of the other family that a Service wants. */
export function secondWantOf(wanted: Want | undefined): SecondWant | undefined {
  return wanted?.kind === 'reserve' ? wanted.second : undefined
}

const openFamilies =
  'address pending, the controller assigns it when the API server has chosen the families of the Service ' +
  '(spec.ipFamilyPolicy: "PreferDualStack"): the announcing software cannot announce a single address for two'

/**
 * Whether an update changes a field that decides the Service's address. Any other update passes at once, even while the
 * provider refuses an address or does not answer: the controller claims it.
 */
function touchesAddress(
  { service, old }: { service: Service; old: Service },
  { now, before }: { now: Want; before: Want },
): boolean {
  return !isDeepStrictEqual([now, ...addressFields(service)], [before, ...addressFields(old)])
}

/** The fields that show an address, which no want contains in full. */
function addressFields({ metadata, spec }: Service): unknown[] {
  return [spec.type, spec.loadBalancerIP, metadata.annotations?.[addressAnnotation]]
}
