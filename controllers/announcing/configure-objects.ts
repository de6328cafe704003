import { isDeepStrictEqual } from 'node:util'
import type { ObjectConfiguration, Problem, WantedObject } from '../../announcers/announcer.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import type { KubeObject } from '../../kube/objects.ts'
import type { Resource } from '../../kube/resource.ts'
import { isJsonObject } from '../../lib/json.ts'
import { mapAll } from '../../lib/map-all.ts'
import { sharedRead } from '../../lib/shared-read.ts'
import type { Configurator } from './configurator.ts'
import { ifKnown, listAllKnown } from './list-known.ts'

const fieldManager = 'eip-admission-announcer'
const writesAtOnce = 8

type Deps = { client: KubeClient; configuration: ObjectConfiguration }

/** Configures announcing software that reads objects of the cluster. */
export function configureObjects(deps: Deps): Configurator {
  const { client, configuration } = deps
  const { namespace } = configuration
  const { isAnnounced, forgetList } = makeAnnouncedLook(deps)
  return {
    async carryOut(state, signal) {
      const existing = await readObjects(deps, signal)
      const { wanted, problems } = configuration.objects(state, existing)
      const { changes, isWriting } = changesFrom(deps, existing, wanted)
      const outcomes: Problem[][] = []
      for (const group of changes) outcomes.push(...(await mapAll(group, (change) => change(signal), writesAtOnce)))
      const reports = await Promise.all(
        configuration.reports.map((resource) => listAllKnown(client, resource, { namespace, signal })),
      )
      if (isWriting) forgetList()
      return {
        problems: [...problems, ...outcomes.flat(), ...configuration.reportedProblems(reports.flat(), state)],
        isChanged: outcomes.some((refused) => refused.length === 0),
        isRefused: outcomes.some((refused) => refused.length > 0),
      }
    },
    announces: isAnnounced,
  }
}

/** How old the list of all objects may be in which a look searches those that have another name than we give. */
const listRecentMs = 1_000

/**
 * Whether an object announces an address. A thousand Services that leave at once ask this several times each, so a look
 * gets the object of the name that we give. Under another name only a predecessor left one: that is looked up in a list
 * which all looks of a second share, and which no write of ours outdates.
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
    const get = async () => name !== undefined && (await client.get(resource, { namespace, name }, { signal }))
    const usual = await ifKnown(undefined, get)
    if (usual && configuration.hasAddress(usual, address)) return true
    const others = (await whole.recent(signal)).filter(({ metadata }) => metadata.name !== name)
    return others.some((object) => configuration.hasAddress(object, address))
  }
  return { isAnnounced, forgetList: () => whole.invalidate() }
}

/** One write; returns the problems if it was refused. */
type Change = (signal: AbortSignal) => Promise<Problem[]>

/**
 * The writes for everything that differs, kind by kind. Strays are removed first: the software checks each write against
 * all existing objects, and refuses a session that an old object already has.
 */
function changesFrom(deps: Deps, existing: KubeObject[], wanted: WantedObject[]) {
  const { configuration } = deps
  const stored = new Map(existing.map((object) => [placeOf(object), object]))
  const due = wanted.filter(({ object }) => !includes(stored.get(placeOf(object)), object))
  const kept = new Set(wanted.map(({ object }) => placeOf(object)))
  const strays = existing.filter((object) => configuration.isOurs(object) && !kept.has(placeOf(object)))
  const writes = configuration.kinds.map(({ resource }) =>
    due
      .filter(({ object }) => isOf(resource, object))
      .map((one): Change => {
        return (signal) => write(deps, { ...one, resource }, signal)
      }),
  )
  const removals = configuration.kinds.toReversed().map(({ resource }) =>
    strays
      .filter((object) => isOf(resource, object))
      .map((object): Change => {
        return (signal) => remove(deps, { object, resource }, signal)
      }),
  )
  const changes: Change[][] = [...removals, ...writes]
  return { changes, isWriting: due.length > 0 }
}

/** Every object that the configuration may depend on. */
async function readObjects(deps: Deps, signal: AbortSignal): Promise<KubeObject[]> {
  const { client, configuration } = deps
  const { kinds, namespace } = configuration
  const found = kinds.map(async ({ resource, only }) =>
    only === undefined
      ? listAllKnown(client, resource, { namespace, signal })
      : [await client.get(resource, { namespace, name: only }, { signal })],
  )
  return (await Promise.all(found)).flat().filter((object) => object !== undefined)
}

type Write = { object: KubeObject; resource: Resource<KubeObject> }

/** A refusal by the API server, or by a webhook, is a problem of its subjects. Any other failure is an error. */
async function write({ client }: Deps, { object, resource, subjects }: Write & WantedObject, signal: AbortSignal) {
  try {
    await client.apply(resource, object, { fieldManager, signal })
    return []
  } catch (error) {
    if (!(error instanceof KubeError) || !isRefusal(error)) throw error
    return subjects.map((subject) => ({ subject, message: error.message }))
  }
}

async function remove({ client }: Deps, { object, resource }: Write, signal: AbortSignal): Promise<Problem[]> {
  const { namespace, name, uid } = object.metadata
  await client.remove(resource, { namespace, name, uid }, { signal })
  return []
}

function isRefusal({ status }: KubeError): boolean {
  return status === 400 || status === 403 || status === 422
}

function isOf(resource: Resource<KubeObject>, object: KubeObject): boolean {
  return object.kind === resource.kind && object.apiVersion === resource.apiVersion
}

/** Identifies an object: all our objects are in one namespace. */
function placeOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`
}

/** Whether the stored value has everything that is wanted. Fields that the API server or a person added stay. */
function includes(stored: unknown, wanted: unknown): boolean {
  if (!isJsonObject(wanted)) return isDeepStrictEqual(stored, wanted)
  return isJsonObject(stored) && Object.entries(wanted).every(([name, value]) => includes(stored[name], value))
}
