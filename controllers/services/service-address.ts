import type { Announcer } from '../../announcers/announcer.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type Key, type Service, splitKey } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import type { Claims } from '../../ledger/claim/claim.ts'
import {
  type AddressKey,
  type ElasticIP,
  heldAddress,
  isSecondKey,
  reservationIdOf,
  secondKeys,
  serviceOfAddress,
} from '../../ledger/record/elastic-ip.ts'
import { heirOf } from '../../ledger/release/heir.ts'
import { rivalOf } from '../../ledger/record/address-use.ts'
import { requestOfRecord } from '../../ledger/record/records.ts'
import type { RequestAnnotations, ValuePolicy } from '../../settings/service-policy.ts'
import type { Want } from '../../ledger/want/want.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import type { Sights } from '../../lib/sights.ts'
import type { Announcement, Announcing } from '../announcing/announcing.ts'
import { type Reconciler, runSteps } from '../loop/reconciler.ts'
import { addressToFree, planService } from './service-plan.ts'
import { type ServiceSeen, isInGrace } from './service-state.ts'
import type { ServicePlan, ServiceStep } from './service-step.ts'
import type { CarryOut } from './service-steps.ts'
import { requestIdAnnotation } from '../../lib/request-id.ts'
import { isWithdrawalAsked } from './removal-plan.ts'

export type ServiceAddressDeps = {
  client: KubeClient
  cached: {
    service: (key: Key) => Service | undefined
    record: (key: AddressKey) => ElasticIP | undefined
    records: () => readonly ElasticIP[]
  }
  getRecord: (key: AddressKey, signal: AbortSignal) => Promise<ElasticIP | undefined>
  want: (service: Service) => Want
  announcer: Announcer
  requestAnnotations: RequestAnnotations
  users: ServiceSeen['users']
  policy: ValuePolicy
  findAnnouncement: Announcing['findAnnouncement']
  carryOut: CarryOut
  /** Hands over a Service to the controller that carries out its next step; true if there is another one. */
  forward?: (step: ServiceStep, seen: { key: AddressKey; isLive: boolean }) => boolean
  claimWaits: Pick<Claims['waits'], 'leftMs' | 'end'>
  graceMs: number
  /** Shared by all controllers of Services, so the waits that one measures count for the others too. */
  sights: Sights
}

/** More steps than any Service needs from nothing to settled. */
const maxSteps = 20

/** Gives a Service the address that admission could not, shows it, binds it, and releases it at the end. */
export function serviceAddress(deps: ServiceAddressDeps): Reconciler {
  return {
    name: 'service-address',
    requestOf(key) {
      const record = deps.cached.record(key)
      return record && requestOfRecord(record)
    },
    keepOnly: () => deps.sights.forget(),
    async reconcile(key, signal) {
      const { service: cachedService, record } = deps.cached
      const others = otherKeys(deps, key).flatMap((other) => record(other) ?? [])
      const cached = { key, service: cachedService(serviceOfAddress(key)), record: record(key), others }
      const { step, ...outcome } = planInTime(deps, { ...factsOf(deps, cached), announcement: undefined })
      if (!step) return outcome
      if (deps.forward?.(step, { key, isLive: false })) return {}
      return runSteps(
        {
          look: (aborted) => look(deps, key, aborted),
          plan: (seen) => planInTime(deps, seen),
          carryOut: async (next: ServiceStep, { service }, aborted) =>
            deps.forward?.(next, { key, isLive: true }) ? {} : deps.carryOut(next, { key, service }, aborted),
          maxSteps,
        },
        signal,
      )
    },
  }
}

/** The next step. A change of a Service does not end the wait of its claim, unless it requests another address. */
function planInTime({ claimWaits }: Pick<ServiceAddressDeps, 'claimWaits'>, seen: ServiceSeen): ServicePlan {
  if (seen.record && heldAddress(seen.record) !== undefined) claimWaits.end(seen.key)
  const plan = planService(seen)
  if (plan.step?.do !== 'claim') return plan
  const againInMs = claimWaits.leftMs({ ...plan.step, key: seen.key, uid: seen.service?.metadata.uid, wait: false })
  return againInMs > 0 ? { againInMs } : plan
}

/**
 * Reads live, because a cache may lag behind our own writes. Looks up announcements only before a step that frees the
 * address, because this may list all objects of the announcing software.
 */
async function look(deps: ServiceAddressDeps, key: Key, signal: AbortSignal): Promise<ServiceSeen> {
  const [service, record, ...all] = await Promise.all([
    deps.client.get(services, splitKey(serviceOfAddress(key)), { signal }),
    deps.getRecord(key, signal),
    ...otherKeys(deps, key).map((other) => deps.getRecord(other, signal)),
  ])
  const others = all.filter((other) => other !== undefined)
  const facts = factsOf(deps, { key, service, record, others })
  const address = addressToFree(facts)
  const announcement = address === undefined ? undefined : await deps.findAnnouncement(address, signal)
  return { ...facts, announcement: announcement && { ...announcement, isTheirs: isTheirs(deps, announcement, record) } }
}

/** Whether the records of the Services that show an address hold the same reservation. */
function isTheirs(
  { cached }: Pick<ServiceAddressDeps, 'cached'>,
  { services: showing }: Announcement,
  record: ElasticIP | undefined,
): boolean {
  const id = record && reservationIdOf(record)
  const isHeldBy = (key: Key) => {
    const other = cached.record(key)
    return other?.metadata.uid !== record?.metadata.uid && other?.status?.reservationID === id
  }
  return id !== undefined && showing.length > 0 && showing.every(isHeldBy)
}

/**
 * The keys of the other addresses of a Service. Second ones only if a cache has them, because most Services have none.
 */
function otherKeys({ cached }: ServiceAddressDeps, key: AddressKey): AddressKey[] {
  return isSecondKey(key)
    ? [serviceOfAddress(key)]
    : secondKeys(key).filter((second) => cached.record(second) !== undefined)
}

function factsOf(
  { cached, want, announcer, requestAnnotations, users, policy, graceMs, sights }: ServiceAddressDeps,
  { key, service, record, others }: Pick<ServiceSeen, 'key' | 'service' | 'record' | 'others'>,
): Omit<ServiceSeen, 'announcement'> {
  const usersOf = ({ status }: ElasticIP) => users(canonicalIpAddress(status?.address ?? '') ?? '')
  return {
    key,
    service,
    record,
    rival: record && rivalOf(record, cached.records(), cached.service),
    others,
    heir: record && heirOf(record, { services: usersOf(record), recordOf: cached.record, want }),
    wanted: service && want(service),
    announcer,
    requestAnnotations,
    users,
    policy,
    unboundForMs: sights.forMs(`unbound ${key}`, unboundState(record)),
    graceMs,
    withdrawingForMs: sights.forMs(`withdrawal ${key}`, withdrawalState(service, announcer)),
  }
}

/**
 * Steps that wait for the provider have their own controllers and workers. However long reserves take, they delay no
 * deletion, and no Service that needs nothing from the provider.
 *
 * Several of these controllers may work on one Service at the same time. The ledger permits that, because the webhook
 * of another replica may do so at any time too: each write is a compare-and-swap.
 */

/** The kinds of steps that wait for the provider. */
export type CloudStep = 'claim' | 'release'

/** The kind of a step; undefined if it does not wait for the provider. Recovery ends a Service, so it is a release. */
function cloudStepOf({ do: name }: ServiceStep): CloudStep | undefined {
  if (name === 'recover-records') return 'release'
  return name === 'claim' || name === 'release' ? name : undefined
}

export type StepQueues = { [step in CloudStep]: { add: (key: AddressKey) => void } }

/** Carries out every step that does not wait for the provider, and hands over Services with any other next step. */
export function quickSteps(deps: ServiceAddressDeps, queues: StepQueues): Reconciler {
  return serviceAddress({
    ...endingAfter(deps, ['announce', 'clear-status', 'remove-finalizers']),
    forward: (step, { key }) => {
      const other = cloudStepOf(step)
      if (other) queues[other].add(key)
      return other !== undefined
    },
  })
}

/** Carries out one kind of step that waits for the provider. Its change triggers the controller of quick steps. */
export function cloudSteps(kind: CloudStep, deps: ServiceAddressDeps, queues: StepQueues): Reconciler {
  const reconciler = serviceAddress({
    ...endingAfter(deps, [kind]),
    // A cached look forwards no key: two controllers with stale caches would forward it to each other endlessly.
    forward: (step, { key, isLive }) => {
      const other = isLive ? cloudStepOf(step) : undefined
      if (other === undefined || other === kind) return false
      queues[other].add(key)
      return true
    },
  })
  return { ...reconciler, name: `service-${kind}` }
}

/** A cache never sees an object that came and went while its watch was broken. */
const unheardMs = 1_000

/** Ends a run after steps that trigger an event, because an immediate look would read the same objects twice. */
function endingAfter(deps: ServiceAddressDeps, steps: ServiceStep['do'][]): ServiceAddressDeps {
  const end = ({ do: name }: ServiceStep) =>
    steps.includes(name) ? { steps: [name], againInMs: unheardMs } : undefined
  return {
    ...deps,
    carryOut: async (step, at, signal) => (await deps.carryOut(step, at, signal)) ?? end(step),
  }
}

/** A text that identifies a withdrawal; undefined while there is none. */
function withdrawalState(service: Service | undefined, announcer: Pick<Announcer, 'withdrawal'>): string | undefined {
  if (!service || !isWithdrawalAsked(service, announcer)) return undefined
  return `${service.metadata.uid} ${service.metadata.deletionTimestamp}`
}

/**
 * A text that identifies the last write of an unbound record, independent of its times; undefined for any other record.
 */
function unboundState(record: ElasticIP | undefined): string | undefined {
  if (!record || !isInGrace(record)) return undefined
  const { metadata, status } = record
  const { uid, annotations } = metadata
  return [
    uid,
    annotations?.[requestIdAnnotation],
    ...(status?.conditions ?? []).map((one) => `${one.type} ${one.lastTransitionTime}`),
  ].join()
}
