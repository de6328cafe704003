import type { ObjectConfiguration, ObjectSessions, WantedObject } from '../../announcers/announcer.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { includes } from '../../lib/json.ts'
import { type SessionChange, interruptingUnits, wavesOf } from './session-waves.ts'

/** A write of what differs from the stored object, if there is one, or the removal of an object. */
export type ObjectChange = { write: WantedObject; stored: KubeObject | undefined } | { remove: KubeObject }

/** The changes towards the wanted state, in groups that are carried out one after the other. */
export type ChangePlan = {
  /** Changes that affect no announcement. */
  first: ObjectChange[][]
  /** Changes that interrupt sessions. Each wave touches so few nodes and routers that every address keeps a route. */
  waves: ObjectChange[][][]
  /** Whether removals wait until nodes have other sessions. */
  isHolding: boolean
  /** Removals of objects that others need until then. */
  last: ObjectChange[]
}

type Facts = Pick<ObjectConfiguration, 'kinds' | 'isOurs' | 'sessionsOf' | 'excludes'>

/**
 * Plans all writes and removals. Strays without sessions are removed first, because the software checks each write
 * against all existing objects. New sessions start before others end, unless the two exclude each other: those change
 * in waves.
 */
export function planChanges(configuration: Facts, existing: readonly KubeObject[], wanted: WantedObject[]): ChangePlan {
  const { kinds, isOurs, sessionsOf = () => undefined } = configuration
  const places = new Map(existing.map((object) => [placeOf(object), object]))
  const changes = wanted.flatMap((write): ObjectChange[] => {
    const stored = places.get(placeOf(write.object))
    return includes(stored, write.object) ? [] : [{ write, stored }]
  })
  const kept = new Set(wanted.map(({ object }) => placeOf(object)))
  const strays = existing.filter((object) => isOurs(object) && !kept.has(placeOf(object)))
  const removals = strays.map((remove): ObjectChange => ({ remove }))
  const sessionsToExist = wanted.flatMap(({ object }) => {
    const sessions = sessionsOf(object)
    return sessions ? [{ sessions, isStored: places.has(placeOf(object)) }] : []
  })
  const units = interruptingUnits({
    changes: [...changes, ...removals].flatMap((change) => withSessions(change, sessionsOf)),
    wanted: sessionsToExist,
    excludes: configuration.excludes ?? (() => false),
  })
  const paced = new Set(units.flatMap(({ changes: of }) => of.map(({ change }) => change)))
  const isLast = (change: ObjectChange) => 'remove' in change && isOnlyOne(configuration, change.remove)
  const free = [...removals, ...changes].filter((change) => !paced.has(change) && !isLast(change))
  return {
    first: inOrder(kinds, free),
    waves: wavesOf(
      units,
      sessionsToExist.map(({ sessions }) => sessions),
    ).map((wave) => inOrder(kinds, wave)),
    isHolding: units.some(({ isReady }) => !isReady),
    last: removals.filter(isLast),
  }
}

/** Removals in the reverse order of kinds, then writes in their order. */
function inOrder(kinds: Facts['kinds'], changes: readonly ObjectChange[]): ObjectChange[][] {
  const of = (name: 'remove' | 'write') =>
    kinds.map(({ resource }) => changes.filter((change) => name in change && objectOf(change).kind === resource.kind))
  return [...of('remove').toReversed(), ...of('write')].filter((group) => group.length > 0)
}

function isOnlyOne({ kinds }: Facts, { kind, metadata }: KubeObject): boolean {
  return kinds.some(({ resource, only }) => resource.kind === kind && only === metadata.name)
}

function withSessions(
  change: ObjectChange,
  sessionsOf: (object: KubeObject) => ObjectSessions | undefined,
): SessionChange<ObjectChange>[] {
  const sessions = sessionsOf(objectOf(change))
  if (!sessions) return []
  if ('remove' in change) return [{ change, kind: 'removal', sessions: [sessions] }]
  const { stored, write } = change
  if (!stored) return [{ change, kind: 'creation', sessions: [sessions] }]
  if (includes(specOf(stored), specOf(write.object))) return []
  const before = sessionsOf(stored)
  return [{ change, kind: 'update', sessions: before ? [before, sessions] : [sessions] }]
}

function objectOf(change: ObjectChange): KubeObject {
  return 'remove' in change ? change.remove : change.write.object
}

function specOf({ spec }: KubeObject & { spec?: unknown }): unknown {
  return spec
}

/** Identifies an object: all our objects are in one namespace. */
function placeOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`
}
