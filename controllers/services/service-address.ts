import type { Announcer } from '../../announcers/announcer.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Key, Service } from '../../kube/objects.ts'
import { splitKey } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import type { ElasticIP } from '../../ledger/record/elastic-ip.ts'
import type { RequestAnnotations } from '../../ledger/want/own-address.ts'
import type { Want } from '../../ledger/want/want.ts'
import type { Announcing } from '../announcing/announcing.ts'
import type { Outcome, Reconciler } from '../reconciler.ts'
import { type Plan, type Seen, type Step, planService } from './service-plan.ts'
import type { CarryOut } from './service-steps.ts'

export type ServiceAddressDeps = {
  client: KubeClient
  cached: { service: (key: Key) => Service | undefined; record: (key: Key) => ElasticIP | undefined }
  getRecord: (key: Key, signal: AbortSignal) => Promise<ElasticIP | undefined>
  want: (service: Service) => Want
  announcer: Announcer
  requestAnnotations: RequestAnnotations
  /** Who keeps an address in the network. */
  holds: Announcing['holds']
  carryOut: CarryOut
  graceMs: number
  now: () => Date
}

/** How soon it is looked again whether the network has forgotten an address. */
const withdrawingMs = 500

/** More steps than any Service needs from nothing to settled: beyond it two writers undo each other. */
const maxSteps = 20

/** Gives a Service the address that admission could not, shows it, binds it, and takes it back at the end. */
export function serviceAddress(deps: ServiceAddressDeps): Reconciler {
  return {
    name: 'service-address',
    async reconcile(key, signal) {
      const glance = plan(deps, { service: deps.cached.service(key), record: deps.cached.record(key) })
      if (!glance.step) return outcomeOf(glance)
      for (let steps = 0; steps < maxSteps; steps += 1) {
        const seen = await look(deps, key, signal)
        const next = plan(deps, seen)
        if (!next.step) return outcomeOf(next)
        if (await isTooEarly(deps, next.step, { ...seen, key, signal })) return { againInMs: withdrawingMs }
        const done = await deps.carryOut(next.step, { key, service: seen.service }, signal)
        if (done) return done
      }
      return { againInMs: 60_000 }
    },
  }
}

type World = Pick<Seen, 'service' | 'record'>

/** A step is decided on what the API server says now; a cache may lag behind our own writes. */
async function look(deps: ServiceAddressDeps, key: Key, signal: AbortSignal): Promise<World> {
  const [service, record] = await Promise.all([
    deps.client.get(services, splitKey(key), { signal }),
    deps.getRecord(key, signal),
  ])
  return { service, record }
}

/**
 * An address goes back, and a Service that shows it goes, only when nobody learns it from us any more. What another
 * Service shows is never given back; a Service that shared it may go.
 */
async function isTooEarly(
  { holds }: ServiceAddressDeps,
  step: Step,
  { key, service, signal }: World & { key: Key; signal: AbortSignal },
): Promise<boolean> {
  const address = addressLeft(step, service)
  const hold = address === undefined ? undefined : await holds(address, signal)
  if (!hold) return false
  const others = hold.services.filter((one) => one !== key)
  if (others.length === 0) return true
  if (step.do === 'remove-finalizers') return false
  throw new Error(`address ${address} is not given back while another Service shows it: ${others.join(', ')}`)
}

function addressLeft(step: Step, service: Service | undefined): string | undefined {
  if (step.do === 'release' || step.do === 'retain') return step.record.status?.address
  return step.do === 'remove-finalizers' ? service?.spec.loadBalancerIP : undefined
}

function plan(deps: ServiceAddressDeps, { service, record }: World): Plan {
  return planService({
    service,
    record,
    wanted: service && deps.want(service),
    announcer: deps.announcer,
    requestAnnotations: deps.requestAnnotations,
    recordAgeMs: record ? deps.now().getTime() - lastWritten(record) : 0,
    graceMs: deps.graceMs,
  })
}

function outcomeOf({ againInMs }: Plan): Outcome {
  return againInMs === undefined ? {} : { againInMs }
}

/** Every phase is entered with a condition, so the newest transition is the last time that anything happened. */
function lastWritten({ metadata, status }: ElasticIP): number {
  const times = [metadata.creationTimestamp, ...(status?.conditions ?? []).map((said) => said.lastTransitionTime)]
  return Math.max(...times.map((time) => Date.parse(time ?? '') || 0))
}
