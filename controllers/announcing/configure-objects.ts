import { isDeepStrictEqual } from 'node:util'
import type { ObjectConfiguration, Problem, WantedObject } from '../../announcers/announcer.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { listAll } from '../../kube/list-all.ts'
import type { KubeObject } from '../../kube/objects.ts'
import type { Resource } from '../../kube/resource.ts'
import { isJsonObject } from '../../lib/json.ts'
import { mapAll } from '../../lib/map-all.ts'
import type { Configurator } from './configurator.ts'

const fieldManager = 'eip-admission-announcer'
const writesAtOnce = 8

type Deps = { client: KubeClient; configuration: ObjectConfiguration }

/** Configures announcing software that reads objects of the cluster. */
export function configureObjects(deps: Deps): Configurator {
  const { configuration } = deps
  return {
    async carryOut(state, signal) {
      const there = await thereNow(deps, signal)
      const { wanted, problems } = configuration.objects(state, there)
      const changes = changesFrom(deps, there, wanted)
      const outcomes: Problem[][] = []
      for (const group of changes) outcomes.push(...(await mapAll(group, (change) => change(signal), writesAtOnce)))
      const reports = await Promise.all(configuration.reports.map((resource) => listKnown(deps, resource, signal)))
      return {
        problems: [...problems, ...outcomes.flat(), ...configuration.reportedProblems(reports.flat(), state)],
        isChanged: outcomes.some((refused) => refused.length === 0),
        isRefused: outcomes.some((refused) => refused.length > 0),
      }
    },
    async announces(address, signal) {
      return (await thereNow(deps, signal)).some((object) => configuration.hasAddress(object, address))
    },
  }
}

/** One write; what was refused of it comes back. */
type Change = (signal: AbortSignal) => Promise<Problem[]>

/**
 * What differs, kind by kind. The strays go first: the software judges each write by everything that is there, and would
 * refuse a session that an old one already has.
 */
function changesFrom(deps: Deps, there: KubeObject[], wanted: WantedObject[]): Change[][] {
  const { configuration } = deps
  const stored = new Map(there.map((object) => [placeOf(object), object]))
  const due = wanted.filter(({ object }) => !includes(stored.get(placeOf(object)), object))
  const kept = new Set(wanted.map(({ object }) => placeOf(object)))
  const strays = there.filter((object) => configuration.isOurs(object) && !kept.has(placeOf(object)))
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

/** Every object that may matter. */
async function thereNow(deps: Deps, signal: AbortSignal): Promise<KubeObject[]> {
  const { client, configuration } = deps
  const { kinds, namespace } = configuration
  const found = kinds.map(async ({ resource, only }) =>
    only === undefined
      ? listKnown(deps, resource, signal)
      : [await client.get(resource, { namespace, name: only }, { signal })],
  )
  return (await Promise.all(found)).flat().filter((object) => object !== undefined)
}

/** All objects of a kind. One that the cluster does not know has none. */
async function listKnown(
  { client, configuration }: Deps,
  resource: Resource<KubeObject>,
  signal: AbortSignal,
): Promise<KubeObject[]> {
  try {
    // Items of a list do not say of which kind they are.
    const { apiVersion, kind } = resource
    const items = await listAll(client, resource, { namespace: configuration.namespace, signal })
    return items.map((item) => ({ ...item, apiVersion, kind }))
  } catch (error) {
    if (error instanceof KubeError && error.reason === 'UnknownKind') return []
    throw error
  }
}

type Write = { object: KubeObject; resource: Resource<KubeObject> }

/** What the API server, or a webhook behind it, refuses is a problem of somebody's; what did not get through is an error. */
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

/** All our objects are in one namespace. */
function placeOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`
}

/** Whether what is there says all that it should; what the API server or a person added is theirs. */
function includes(there: unknown, wanted: unknown): boolean {
  if (!isJsonObject(wanted)) return isDeepStrictEqual(there, wanted)
  return isJsonObject(there) && Object.entries(wanted).every(([name, value]) => includes(there[name], value))
}
