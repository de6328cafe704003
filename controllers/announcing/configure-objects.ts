import type { Announced, Announcements, ObjectConfiguration } from '../../announcers/announcer.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isForbidden, isUnknownKind, resultUnless } from '../../kube/errors.ts'
import type { Log } from '../../kube/log.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { reflector } from '../../kube/reflector.ts'
import type { Watcher } from '../../kube/watch.ts'
import type { Resource } from '../../kube/resource.ts'
import { sharedRead } from '../../lib/shared-read.ts'
import { carryOutChange } from './carry-out-change.ts'
import type { Configurator, FormerConfigurator } from './configurator.ts'
import type { LingeringNodes } from './lingering-nodes.ts'
import { listAllKnown } from '../../kube/list-all.ts'
import { type ChangePlan, type ObjectChange, planChanges } from './plan-changes.ts'
import { planRunner } from './plan-runner.ts'

type Deps = {
  client: KubeClient
  configuration: ObjectConfiguration
  lingering?: LingeringNodes | undefined
  /** Called when an object of a watched kind was deleted. */
  deleted?: { notify: () => void; client: Pick<KubeClient, 'list'> & Watcher; log: Log }
  /** A clock that never jumps. */
  now?: () => number
}

/** Configures announcing software that reads objects of the cluster. */
export function configureObjects(deps: Deps): FormerConfigurator {
  const { client, configuration, lingering, now = () => performance.now() } = deps
  const { namespace } = configuration
  const { isAnnounced, forgetList } = makeAnnouncedLook(deps)
  const watchDeletions = deletionWatch(deps)
  const carryOutOne = (change: ObjectChange, signal: AbortSignal) => carryOutChange(deps, change, signal)
  const { begin, carryOut: carryOutPlan } = planRunner({ now, carryOut: carryOutOne })
  return {
    begin,
    async carryOut(state, signal) {
      const existing = await readObjects(deps, signal)
      watchDeletions(existing, signal)
      const { wanted, problems, isHeld = false } = configuration.objects(state, existing)
      const lasting = lingering?.look(existing, state.hasNode ?? (() => true)) ?? []
      const all = [...wanted, ...lasting.map((object) => ({ object, subjects: [] }))]
      const { outcomes, isUnfinished, failure } = await carryOutPlan(planChanges(configuration, existing, all), signal)
      if (outcomes.some(({ isWrite }) => isWrite)) forgetList()
      const reports = await Promise.all(
        configuration.reports.map((resource) => listAllKnown(client, resource, { namespace, signal })),
      )
      const refused = outcomes.flatMap((outcome) => outcome.refused)
      return {
        problems: [...problems, ...refused, ...configuration.reportedProblems(reports.flat(), state)],
        isChanged: outcomes.some((outcome) => !outcome.isRefused),
        ...(isUnfinished && { isUnfinished }),
        isRefused: isHeld || outcomes.some((outcome) => outcome.isRefused),
        ...(failure && { failure }),
      }
    },
    async withdraw(state, signal) {
      const plan = planWithdrawal(configuration, state, await readObjects(deps, signal))
      const { outcomes, failure } = await carryOutPlan(plan, signal)
      if (outcomes.some(({ isWrite }) => isWrite)) forgetList()
      if (failure) throw failure
      return outcomes.some(({ isRefused }) => !isRefused)
    },
    announces: isAnnounced,
  }
}

/**
 * Watches each watched kind from the first pass that finds one of its objects, because the kind may not exist before.
 */
function deletionWatch({ configuration: { kinds, namespace }, deleted }: Deps) {
  const watching = new Map<Resource<KubeObject>, AbortSignal>()
  return (existing: readonly KubeObject[], signal: AbortSignal): void => {
    if (!deleted) return
    for (const { resource } of kinds.filter(({ isWatched }) => isWatched)) {
      const isRunning = watching.get(resource)?.aborted === false
      if (isRunning || !existing.some(({ kind }) => kind === resource.kind)) continue
      watching.set(resource, signal)
      // Only the name is needed.
      const strip = ({ apiVersion, kind, metadata: { namespace: at, name, resourceVersion = '' } }: KubeObject) => ({
        apiVersion,
        kind,
        metadata: { name, resourceVersion, ...(at !== undefined && { namespace: at }) },
      })
      const cache = reflector({ ...deleted, resource, namespace, strip })
      cache.onChange((_key, current) => (current ? undefined : deleted.notify()))
      cache.start(signal)
    }
  }
}

/** The changes to our announcing objects alone, after which they have only the addresses of a state. */
function planWithdrawal(configuration: ObjectConfiguration, state: Announcements, existing: KubeObject[]): ChangePlan {
  const { announcing, isOurs } = configuration
  const kinds = configuration.kinds.filter(({ resource }) => resource.kind === announcing.kind)
  const isShared = kinds.some((kind) => kind.isShared)
  const ours = existing.filter((object) => object.kind === announcing.kind && (isShared || isOurs(object)))
  const addresses = [...state.addresses, ...(state.undecided ?? [])].filter(addressesIn(configuration, ours))
  const names = new Set(ours.map(({ metadata }) => metadata.name))
  const { visible = [] } = state
  const { wanted } = configuration.objects({ addresses, visible, nodes: [] }, existing)
  const isThere = ({ kind, metadata }: KubeObject) => kind === announcing.kind && names.has(metadata.name)
  const left = wanted.filter(({ object }) => isThere(object))
  return planChanges({ ...configuration, kinds }, ours, left)
}

/**
 * Whether objects have an address. Most have our usual name, and a search through all would be slow for many addresses.
 */
function addressesIn(
  configuration: ObjectConfiguration,
  objects: readonly KubeObject[],
): (announced: Announced) => boolean {
  const named = new Map(objects.map((object) => [object.metadata.name, object]))
  return ({ address }) => {
    const usual = named.get(configuration.nameFor(address) ?? '')
    return (
      (usual !== undefined && configuration.hasAddress(usual, address)) ||
      objects.some((object) => configuration.hasAddress(object, address))
    )
  }
}

/** The maximum age of the list of all objects, in which a look searches for objects with other names. */
const listRecentMs = 1_000

/**
 * Whether an object announces an address. A thousand Services that leave at once ask this several times each, so a look
 * reads the object with our usual name. Only a predecessor's object has another name. All looks within a second share a
 * list of those, which our writes never make stale.
 */
function makeAnnouncedLook({ client, configuration }: Deps) {
  const { announcing: resource, namespace } = configuration
  const whole = sharedRead({
    read: (signal) => listAllKnown(client, resource, { namespace, signal }),
    recentMs: listRecentMs,
    abandonedError: (cause) => new Error(`the list of ${resource.plural} in ${namespace} was canceled`, { cause }),
  })
  const isAnnounced: Configurator['announces'] = async (address, signal) => {
    const name = configuration.nameFor(address)
    const get = name === undefined ? undefined : client.get(resource, { namespace, name }, { signal })
    const usual = get && (await resultUnless(isUnknownKind, get))
    if (usual && configuration.hasAddress(usual, address)) return true
    const others = (await whole.recent(signal)).filter(({ metadata }) => metadata.name !== name)
    return others.some((object) => configuration.hasAddress(object, address))
  }
  return { isAnnounced, forgetList: () => whole.invalidate() }
}

async function readObjects({ client, configuration }: Deps, signal: AbortSignal): Promise<KubeObject[]> {
  const { kinds, namespace } = configuration
  const found = kinds.map(async ({ resource, only }) =>
    only === undefined
      ? listAllKnown(client, resource, { namespace, signal })
      : [await ifReadable(client.get(resource, { namespace, name: only }, { signal }))],
  )
  return (await Promise.all(found)).flat().filter((object) => object !== undefined)
}

/**
 * The result of a read; undefined if the kind is unknown, or if we have no right to it. Earlier software may have
 * objects in such a namespace. A write that needs the object is then refused, which is reported.
 */
export function ifReadable<T>(read: Promise<T>): Promise<T | undefined> {
  return resultUnless((error) => isForbidden(error) || isUnknownKind(error), read)
}
