import { isDeepStrictEqual } from 'node:util'
import type { ObjectConfiguration, Problem, WantedObject } from '../../announcers/announcer.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { listAll } from '../../kube/list-all.ts'
import type { KubeObject } from '../../kube/objects.ts'
import type { Resource } from '../../kube/resource.ts'
import { isJsonObject } from '../../lib/json.ts'
import { mapAll } from '../../lib/map-all.ts'
import { sharedRead } from '../../lib/shared-read.ts'
import type { Configurator } from './configurator.ts'

const fieldManager = 'eip-admission-announcer'
const writesAtOnce = 8

type Deps = { client: KubeClient; configuration: ObjectConfiguration }

/** Configures announcing software that reads objects of the cluster. */
export function configureObjects(deps: Deps): Configurator {
  const { configuration } = deps
  const isAnnounced = makeAnnouncedLook(deps)
  return {
    async carryOut(state, signal) {
      const existing = await readObjects(deps, signal)
      const { wanted, problems } = configuration.objects(state, existing)
      const changes = changesFrom(deps, existing, wanted)
      const outcomes: Problem[][] = []
      for (const group of changes) outcomes.push(...(await mapAll(group, (change) => change(signal), writesAtOnce)))
      const reports = await Promise.all(configuration.reports.map((resource) => listKnown(deps, resource, signal)))
      return {
        problems: [...problems, ...outcomes.flat(), ...configuration.reportedProblems(reports.flat(), state)],
        isChanged: outcomes.some((refused) => refused.length === 0),
        isRefused: outcomes.some((refused) => refused.length > 0),
      }
    },
    announces: isAnnounced,
  }
}

/**
 * Whether an object announces an address now. A thousand Services that leave at once ask this several times each, so a
 * look first gets the object of the name that we give. Only without it a look lists all, once for all who look then.
 */
function makeAnnouncedLook(deps: Deps): Configurator['announces'] {
  const { client, configuration } = deps
  const { announcing: resource, namespace } = configuration
  const whole = sharedRead({
    read: (signal) => listKnown(deps, resource, signal),
    recentMs: 0,
    abandonedError: (cause) => new Error(`the list of ${resource.plural} in ${namespace} was canceled`, { cause }),
  })
  return async (address, signal) => {
    const name = configuration.nameFor(address)
    const get = async () => name !== undefined && (await client.get(resource, { namespace, name }, { signal }))
    const usual = await ifKnown(undefined, get)
    if (usual && configuration.hasAddress(usual, address)) return true
    return (await whole.fresh(signal)).some((object) => configuration.hasAddress(object, address))
  }
}

/** One write; returns the problems if it was refused. */
type Change = (signal: AbortSignal) => Promise<Problem[]>

/**
 * The writes for everything that differs, kind by kind. Strays are removed first: the software checks each write against
 * all existing objects, and refuses a session that an old object already has.
 */
function changesFrom(deps: Deps, existing: KubeObject[], wanted: WantedObject[]): Change[][] {
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
  return [...removals, ...writes]
}

/** Every object that the configuration may depend on. */
async function readObjects(deps: Deps, signal: AbortSignal): Promise<KubeObject[]> {
  const { client, configuration } = deps
  const { kinds, namespace } = configuration
  const found = kinds.map(async ({ resource, only }) =>
    only === undefined
      ? listKnown(deps, resource, signal)
      : [await client.get(resource, { namespace, name: only }, { signal })],
  )
  return (await Promise.all(found)).flat().filter((object) => object !== undefined)
}

/** All objects of a kind; none if the cluster does not know the kind. */
async function listKnown(
  { client, configuration }: Deps,
  resource: Resource<KubeObject>,
  signal: AbortSignal,
): Promise<KubeObject[]> {
  return ifKnown([], async () => {
    // The items of a list lack apiVersion and kind.
    const { apiVersion, kind } = resource
    const items = await listAll(client, resource, { namespace: configuration.namespace, signal })
    return items.map((item) => ({ ...item, apiVersion, kind }))
  })
}

/** What a read gives, or something else if the cluster does not know the kind. */
async function ifKnown<T>(otherwise: T, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof KubeError && error.reason === 'UnknownKind') return otherwise
    throw error
  }
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
