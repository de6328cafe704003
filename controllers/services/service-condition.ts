// The condition on a Service says whether it has its address, after its Events have expired. The first row that applies decides.
//
//   the Service            | and                                      | status, reason
//   -----------------------+------------------------------------------+--------------------
//   is being deleted       |                                          | kept as it is
//   is to be ignored       |                                          | kept as it is
//   wants nothing of us    |                                          | none
//   shows what it holds    |                                          | True, AddressShown
//   has a mistake          |                                          | False, Refused
//   holds an address       | it is in doubt, or the announcing        | False, NotAnnounced
//                          | software says what is wrong              |
//   holds an address       |                                          | False, NotShown
//   holds no address       |                                          | False, Pending
import { statusAddresses, statusTexts, addressConditionOf } from '../../ledger/record/address-use.ts'
import type { Announcer } from '../../announcers/announcer.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isConflict, isNotFound } from '../../kube/errors.ts'
import { type Condition, type Key, type Service, ingressOf } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { type ElasticIP, heldAddress } from '../../ledger/record/elastic-ip.ts'
import { addressCondition, serviceFieldManager } from '../../ledger/record/names.ts'
import { requestOfRecord } from '../../ledger/record/records.ts'
import type { Want } from '../../ledger/want/want.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import type { Sights } from '../../lib/sights.ts'
import type { Outcome, Reconciler } from '../loop/reconciler.ts'

export type ConditionSeen = {
  service: Service
  wanted: Want
  /** The records of its addresses, the first one before a second one. */
  records: readonly ElasticIP[]
  software: string
  /** Why the announcing software does not announce the address, in its own words. */
  refusal: string | undefined
  /** Why the last claim of an address failed. */
  claimReason: string | undefined
}

export type ConditionFacts = Pick<Condition, 'status' | 'reason' | 'message'>

/** The wanted condition: undefined for no condition, `kept` for the existing one. */
export type WantedCondition = ConditionFacts | 'kept' | undefined

/** How long a Service may lack its address before its condition reports it: most get one sooner. */
const unsaidMs = 5_000

/** How soon we look at a Service without an address again, because a failed claim changes no object. */
const pendingPollMs = 15_000

const maxMessageLength = 1_024

/** The wanted condition of a Service. Pure. */
export function wantedCondition(seen: ConditionSeen): WantedCondition {
  const { service, wanted, records, software, refusal, claimReason } = seen
  if (service.metadata.deletionTimestamp || wanted.kind === 'ignored') return 'kept'
  if (wanted.kind === 'foreign' || wanted.kind === 'nothing') return undefined
  const held = heldAddresses(seen)
  const text = held.join(', ')
  const shown = shownCondition(seen)
  if (shown) return shown
  if (wanted.kind === 'wrong') return no('Refused', wanted.problems.join('; '))
  if (wanted.kind === 'managed') return no('Pending', 'The provider creates its managed load balancer')
  if (wanted.kind === 'own' && wanted.doubt) return no('NotAnnounced', wanted.doubt.reason)
  if (held.length === 0)
    return no('Pending', claimReason ?? records[0]?.status?.message ?? 'Its address is being reserved')
  if (refusal !== undefined) return no('NotAnnounced', `${software} does not announce ${text}: ${refusal}`)
  return no('NotShown', `${text} is reserved, and ${software} has not written it into the status`)
}

function no(reason: string, message: string): WantedCondition {
  return { status: 'False', reason, message: message.slice(0, maxMessageLength) }
}

/** The condition of a Service if its status shows every address that it holds; otherwise undefined. Pure. */
export function shownCondition(seen: ShownSeen): ConditionFacts | undefined {
  if (!isShown(seen)) return undefined
  return { status: 'True', reason: 'AddressShown', message: `The status shows ${statusTexts(seen.service).join(', ')}` }
}

type ShownSeen = Pick<ConditionSeen, 'service' | 'wanted' | 'records'>

function isShown(seen: ShownSeen): boolean {
  if (seen.wanted.kind === 'managed') return ingressOf(seen.service).length > 0
  const shown = statusAddresses(seen.service)
  const held = heldAddresses(seen)
  return held.length > 0 && held.every((address) => shown.includes(canonicalIpAddress(address) ?? address))
}

function heldAddresses({ wanted, records }: ShownSeen): string[] {
  return wanted.kind === 'own' ? [wanted.address] : records.flatMap((record) => heldAddress(record) ?? [])
}

export type ServiceConditionDeps = {
  client: Pick<KubeClient, 'patch'>
  service: (key: Key) => Service | undefined
  want: (service: Service) => Want
  records: (key: Key) => ElasticIP[]
  announcer: Pick<Announcer, 'name' | 'refusal'>
  /** The announcing software's problem with our configuration for a Service. */
  problemOf: (key: Key) => string | undefined
  claimReason: (key: Key) => string | undefined
  sights: Sights
  now: () => Date
  event: (service: Service, event: ServiceEvent) => void
}

/** Keeps our condition on each Service up to date, and records Events for its owner. */
export function serviceCondition(deps: ServiceConditionDeps): Reconciler {
  // A write may be stored without a success for an answer: a repeated request meets its own first write as a conflict.
  const unconfirmed = new Map<Key, Change>()
  return {
    name: 'service-condition',
    keepOnly: () => unconfirmed.clear(),
    requestOf(key) {
      const [record] = deps.records(key)
      return record && requestOfRecord(record)
    },
    async reconcile(key, signal): Promise<Outcome> {
      const service = deps.service(key)
      const wanted = service ? wantedCondition(look(deps, key, service)) : undefined
      const isWaiting = typeof wanted === 'object' && wanted.status === 'False'
      const waitingMs = deps.sights.forMs(`waiting ${key}`, isWaiting ? service?.metadata.uid : undefined)
      if (!service || wanted === 'kept') {
        unconfirmed.delete(key)
        return {}
      }
      if (isWaiting && wanted.reason !== 'Refused' && waitingMs < unsaidMs) return { againInMs: unsaidMs - waitingMs }
      const stored = addressConditionOf(service)
      const isStored = isSame(stored, wanted)
      if (!isStored) unconfirmed.set(key, { service, stored, wanted })
      const change = unconfirmed.get(key)
      if (change && (isStored || (await write(deps, change, signal)))) {
        unconfirmed.delete(key)
        if (isSame(change.wanted, wanted)) recordEvent(deps, change)
      }
      return isWaiting ? { againInMs: pendingPollMs } : {}
    },
  }
}

function look({ want, records, announcer, problemOf, claimReason }: ServiceConditionDeps, key: Key, service: Service) {
  return {
    service,
    wanted: want(service),
    records: records(key),
    software: announcer.name,
    refusal: problemOf(key) ?? announcer.refusal?.(service),
    claimReason: claimReason(key),
  }
}

type Change = { service: Service; stored: Condition | undefined; wanted: Exclude<WantedCondition, 'kept'> }

/** Whether the stored condition equals the wanted one. */
export function isSame(stored: ConditionFacts | undefined, wanted: ConditionFacts | undefined): boolean {
  return stored?.status === wanted?.status && stored?.reason === wanted?.reason && stored?.message === wanted?.message
}

/** Whether the condition was written. If the Service has changed since, its watch event triggers the next decision. */
function write(
  { client, now }: ServiceConditionDeps,
  { service, wanted }: Change,
  signal: AbortSignal,
): Promise<boolean> {
  return patchCondition(client, { service, change: wanted ? conditionOf(service, wanted, now()) : removal }, signal)
}

/** Our condition on a Service as it is written. */
export function conditionOf(service: Service, wanted: ConditionFacts, now: Date): Condition {
  const stored = addressConditionOf(service)
  const time = stored?.status === wanted.status ? stored.lastTransitionTime : now.toISOString().replace(/\.\d+Z$/, 'Z')
  return { ...wanted, type: addressCondition, lastTransitionTime: time }
}

const removal = { $patch: 'delete' } as const

/** Removes our condition from a Service, even if another program has changed the Service since. */
export async function removeCondition(client: Pick<KubeClient, 'patch'>, service: Service): Promise<void> {
  const { resourceVersion: _any, ...metadata } = service.metadata
  await patchCondition(client, { service: { metadata }, change: removal })
}

/** Merges by type, because the announcing software may have conditions of its own. */
async function patchCondition(
  client: Pick<KubeClient, 'patch'>,
  { service, change }: { service: Pick<Service, 'metadata'>; change: Condition | typeof removal },
  signal?: AbortSignal,
): Promise<boolean> {
  const { name, namespace, uid, resourceVersion } = service.metadata
  // A new Service may have taken the name.
  const metadata = { uid, ...(resourceVersion !== undefined && { resourceVersion }) }
  const strategic = { metadata, status: { conditions: [{ ...change, type: addressCondition }] } }
  const options = { fieldManager: serviceFieldManager, subresource: 'status', ...(signal && { signal }) } as const
  try {
    await client.patch(services, { name, namespace, patch: { strategic } }, options)
    return true
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return false
    throw error
  }
}

/** Records a success only when the status shows the address. Balancers have their own Events. */
function recordEvent({ event }: ServiceConditionDeps, { service, stored, wanted }: Change): void {
  if (wanted?.status === 'True') {
    event(service, ensuredEvent(service))
  } else if (wanted?.reason === 'NotAnnounced' && stored?.message !== wanted.message) {
    event(service, failedEvent(wanted.message))
  }
}

/** The Event of a Service whose status shows its address. */
export function ensuredEvent(service: Pick<Service, 'status'>): ServiceEvent {
  const message = `Ensured load balancer: ${statusTexts(service).join(', ')}`
  return { type: 'Normal', reason: 'EnsuredLoadBalancer', message }
}

/** The Event of a step of a Service's removal. */
export function deletingEvent(message: string): ServiceEvent {
  return { type: 'Normal', reason: 'DeletingLoadBalancer', message }
}

/** The Event of a Service that has no address yet, or may lose it. */
export function failedEvent(message: string): ServiceEvent {
  return { type: 'Warning', reason: 'SyncLoadBalancerFailed', message }
}

/** The reasons of the upstream service controller, which dashboards know, and one of our own. */
type ServiceReason =
  | 'EnsuringLoadBalancer'
  | 'EnsuredLoadBalancer'
  | 'SyncLoadBalancerFailed'
  | 'DeletingLoadBalancer'
  | 'DeletedLoadBalancer'
  | 'ContradictoryAddress'

export type ServiceEvent = { type: 'Normal' | 'Warning'; reason: ServiceReason; message: string }
