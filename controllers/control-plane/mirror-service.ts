import type { KubeClient, WriteOptions } from '../../kube/client.ts'
import { isAlreadyExists, isNotFound } from '../../kube/errors.ts'
import type { Log } from '../../kube/log.ts'
import { type Key, type Service, splitKey } from '../../kube/objects.ts'
import { endpointSlices, endpoints, services } from '../../kube/resource.ts'
import { listAll } from '../../kube/list-all.ts'
import { type Outcome, type Reconciler, runSteps } from '../loop/reconciler.ts'
import type { Recorder } from '../../telemetry/event-recorders.ts'
import type { FailingServers } from './failing-servers.ts'
import { type MirrorSeen, sliceName, slicesOf, withoutFailing } from './mirror-objects.ts'
import { type MirrorStep, planMirror } from './mirror-plan.ts'

export type MirrorServiceOptions = {
  client: KubeClient
  /** The control-plane address, which its guardian reads from the provider; undefined while it is unknown. */
  address: { current(): string | undefined }
  /** The port at the address, if it differs from the API servers' own. */
  port: number | undefined
  failing: Pick<FailingServers, 'has'>
  events: Pick<Recorder, 'record'>
  now?: () => number
  log: Log
}

/** The Service of the API servers. */
export const apiServerService = 'default/kubernetes'

/** More steps than any mirror needs. */
const maxSteps = 15

/** Maintains the mirror Service, which is its only key. */
export function mirrorService(options: MirrorServiceOptions): Reconciler {
  const { now = () => performance.now() } = options
  // Bursts that no adoption or human edit exceeds.
  const paces: Paces = { service: repairPace(6, now), endpoints: repairPace(30, now) }
  return {
    name: 'mirror-service',
    reconcile: (key, signal) =>
      runSteps(
        {
          look: async (aborted) => {
            const seen = await look(options, key, aborted)
            // An API server that comes or goes explains a write without another program.
            paces.endpoints.wants(JSON.stringify(seen.source.slices.map((slice) => slice.endpoints)))
            return seen
          },
          plan: (seen: MirrorSeen) => ({ step: planMirror(seen) }),
          carryOut: (step: MirrorStep, seen, aborted) => carryOut({ ...options, paces }, { step, seen }, aborted),
          maxSteps,
        },
        signal,
      ),
  }
}

/** Reads everything live: it is little, it rarely changes, and a stale cache would undo a person's recent change. */
async function look(options: MirrorServiceOptions, key: Key, signal: AbortSignal): Promise<MirrorSeen> {
  const { client, port } = options
  const at = splitKey(key)
  const slices = (service: Key) => {
    const { namespace, name } = splitKey(service)
    return listAll(client, endpointSlices, { namespace, labelSelector: slicesOf(name), signal })
  }
  const [service, found, sourceService, sourceSlices, labeled] = await Promise.all([
    client.get(services, at, { signal }),
    client.get(endpoints, at, { signal }),
    client.get(services, splitKey(apiServerService), { signal }),
    slices(apiServerService),
    slices(key),
  ])
  // The list lacks slices that lost their label.
  const names = sourceSlices.map((_, n) => sliceName(at.name, n))
  const missing = names.filter((name) => !labeled.some(({ metadata }) => metadata.name === name))
  const unlabeled = await Promise.all(missing.map((name) => client.get(endpointSlices, { ...at, name }, { signal })))
  return {
    key,
    address: options.address.current(),
    port,
    source: { service: sourceService, slices: withoutFailing(sourceSlices, options.failing.has) },
    service,
    endpoints: found,
    slices: [...labeled, ...unlabeled.filter((slice) => slice !== undefined)],
  }
}

type Paces = { service: RepairPace; endpoints: RepairPace }

/** The repair that each step makes; undefined for a step that no other program undoes. */
const repaired: Record<MirrorStep['do'], { pace: keyof Paces; what: string } | undefined> = {
  'create-service': undefined,
  'finish-deletion': undefined,
  'change-service': { pace: 'service', what: 'its annotations or its spec' },
  'show-address': { pace: 'service', what: 'the address in its status' },
  'change-endpoints': { pace: 'endpoints', what: 'its Endpoints' },
  'create-slice': { pace: 'endpoints', what: 'its EndpointSlices' },
  'change-slice': { pace: 'endpoints', what: 'its EndpointSlices' },
  'remove-slice': { pace: 'endpoints', what: 'its EndpointSlices' },
}

type Deps = MirrorServiceOptions & { paces: Paces }

async function carryOut(
  deps: Deps,
  { step, seen }: { step: MirrorStep; seen: MirrorSeen },
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const { client, paces, log } = deps
  const repair = repaired[step.do]
  if (repair) {
    const pace = paces[repair.pace]
    const pauseMs = pace.pauseMs()
    if (pauseMs > 0) return pause(deps, { service: seen.service, what: repair.what }, pauseMs)
    pace.made()
  }
  try {
    await write(client, step, { fieldManager: 'eip-admission', signal })
    log.info({ step: step.do }, 'mirror Service')
  } catch (error) {
    // It was created or removed meanwhile, which the next look shows.
    if (!isAlreadyExists(error) && !isNotFound(error)) throw error
  }
  return undefined
}

/** Executes the write of a step. An interrupted write can be repeated. */
async function write(client: KubeClient, step: MirrorStep, options: WriteOptions): Promise<unknown> {
  switch (step.do) {
    case 'create-service':
      return client.create(services, step.service, options)
    case 'finish-deletion':
      return patch(client, { ...step, change: { metadata: { finalizers: step.finalizers } } }, options)
    case 'change-service':
      return patch(client, step, options)
    case 'show-address': {
      const status = { loadBalancer: { ingress: step.ingress } }
      return patch(client, { ...step, change: { status } }, { ...options, subresource: 'status' })
    }
    case 'change-endpoints':
      return client.replace(endpoints, step.endpoints, options)
    case 'create-slice':
      return client.create(endpointSlices, step.slice, options)
    case 'change-slice':
      return client.replace(endpointSlices, step.slice, options)
    case 'remove-slice': {
      const { namespace, name, uid } = step.slice.metadata
      return client.remove(endpointSlices, { namespace, name, uid }, options)
    }
  }
}

/** Changes the Service, unless it has changed since we looked. */
async function patch(
  client: KubeClient,
  { service, change }: { service: Service; change: { metadata?: object; spec?: object; status?: object } },
  options: WriteOptions,
): Promise<unknown> {
  const { namespace, name, resourceVersion } = service.metadata
  const merge = { ...change, metadata: { ...change.metadata, resourceVersion } }
  return client.patch(services, { namespace, name, patch: { merge } }, options)
}

function pause(
  { events, log }: Deps,
  { service, what }: { service: Service | undefined; what: string },
  againInMs: number,
): Outcome {
  const advice =
    service?.spec.loadBalancerClass === undefined
      ? 'if the announcing software does, delete this Service: eip-admission immediately creates it again, with a class that other programs ignore'
      : 'find out which program it is, and stop it from serving this Service'
  const message = `Another program keeps reverting ${what}, so eip-admission repairs it only every 10 s: ${advice}`
  if (service) events.record(service, { type: 'Warning', reason: 'MirrorServiceContested', message })
  log.warn({ warning: message }, 'mirror Service')
  return { againInMs: Math.ceil(againInMs) }
}

type RepairPace = ReturnType<typeof repairPace>

const intervalMs = 10_000

/** More repairs than another content needs: one for each slice, or one for a predecessor's Endpoints. */
const perContent = 3

/**
 * Makes a pace for repairs that another program may undo each time. It permits `burst` repairs at once, and then one in
 * each interval.
 */
export function repairPace(burst: number, now: () => number) {
  const times: number[] = []
  let wanted: string | undefined
  const windowMs = burst * intervalMs
  return {
    /** How long to wait before the next repair; 0 if it may be made now. */
    pauseMs() {
      const recent = times.filter((time) => now() - time < windowMs)
      const last = recent.at(-1) ?? -Infinity
      return recent.length < burst ? 0 : Math.max(0, last + intervalMs - now())
    },
    /** Records a repair. */
    made() {
      times.push(now())
      if (times.length > burst) times.shift()
    },
    /** Sets the content that repairs restore. When it changes, as many repairs as that takes no longer count. */
    wants(content: string) {
      if (content !== wanted) times.splice(0, perContent)
      wanted = content
    },
  }
}
