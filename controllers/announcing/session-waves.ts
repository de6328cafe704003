import type { ObjectSessions } from '../../announcers/announcer.ts'

/** A change of an object with sessions: its old ones, its new ones, or both. */
export type SessionChange<C> = { change: C; kind: 'creation' | 'update' | 'removal'; sessions: ObjectSessions[] }

/**
 * Changes that belong together because they exclude each other's sessions; not ready while nodes would be left without
 * one.
 */
export type Unit<C> = { changes: SessionChange<C>[]; isReady: boolean }

/** The wanted sessions of an object, and whether the object exists. */
export type WantedSessions = { sessions: ObjectSessions; isStored: boolean }

type Facts<C> = {
  changes: SessionChange<C>[]
  wanted: WantedSessions[]
  excludes: (one: ObjectSessions, other: ObjectSessions) => boolean
}

/**
 * The changes that interrupt sessions of nodes that should have some. A creation is among them if a removed object
 * excludes it. A removal without a creation waits until its nodes have other sessions.
 */
export function interruptingUnits<C>({ changes, wanted, excludes }: Facts<C>): Unit<C>[] {
  const collide = (one: SessionChange<C>, other: SessionChange<C>) =>
    one.sessions.some((here) => other.sessions.some((there) => excludes(here, there)))
  const removals = changes.filter(({ kind, sessions }) => {
    return kind === 'removal' && sessions.some((one) => wanted.some((other) => hasCommonNode(one, other.sessions)))
  })
  const others = changes.filter((one) => {
    return one.kind === 'update' || (one.kind === 'creation' && removals.some((removal) => collide(one, removal)))
  })
  const served = new Set(wanted.flatMap(({ sessions, isStored }) => (isStored ? (sessions.nodes ?? []) : [])))
  const all = wanted.flatMap(({ sessions }) => sessions.nodes ?? [])
  const isServed = ({ sessions }: SessionChange<C>) =>
    all.every((node) => served.has(node) || !sessions.some(({ nodes = [node] }) => nodes.includes(node)))
  return connected([...removals, ...others], collide).map((unit) => ({
    changes: unit,
    isReady: unit.some(({ kind }) => kind !== 'removal') || unit.every(isServed),
  }))
}

/** A wave touches at most this share of the nodes of a router, but at least one. */
const share = 1 / 8

/**
 * The changes of all units that are ready, in waves. In one wave no two units touch the sessions of one node, and few
 * touch those of one router. So a node keeps its session with another router, and a router keeps those with most other
 * nodes. `all` are the wanted sessions, which determine how many nodes a router has.
 */
export function wavesOf<C>(units: readonly Unit<C>[], all: readonly ObjectSessions[]): C[][] {
  const routers = Map.groupBy(all, ({ router }) => router)
  const mostNodes = new Map([...routers].map(([router, at]) => [router, Math.floor(nodesAt(router, at).size * share)]))
  const waves: C[][] = []
  let left = units.filter(({ isReady }) => isReady)
  while (left.length > 0) {
    const chosen = firstWave(left, (router) => Math.max(1, mostNodes.get(router) ?? 0))
    waves.push(chosen.flatMap(({ changes }) => changes.map(({ change }) => change)))
    left = left.filter((unit) => !chosen.includes(unit))
  }
  return waves
}

function firstWave<C>(units: readonly Unit<C>[], mostNodes: (router: string) => number): Unit<C>[] {
  const chosen: Unit<C>[] = []
  const touched: ObjectSessions[] = []
  for (const unit of units) {
    const sessions = unit.changes.flatMap((one) => one.sessions)
    const isApart = !sessions.some((one) => touched.some((other) => hasCommonNode(one, other)))
    const isFull = ({ router }: ObjectSessions) => nodesAt(router, [...touched, ...sessions]).size > mostNodes(router)
    if (chosen.length > 0 && (!isApart || sessions.some(isFull))) continue
    chosen.push(unit)
    touched.push(...sessions)
  }
  return chosen
}

function nodesAt(router: string, all: readonly ObjectSessions[]): Set<string> {
  return new Set(all.flatMap((one) => (one.router === router ? (one.nodes ?? []) : [])))
}

function hasCommonNode({ nodes: ones }: ObjectSessions, { nodes: others }: ObjectSessions): boolean {
  return ones === undefined || others === undefined || ones.some((node) => others.includes(node))
}

/** Groups of items that are linked, directly or through others. */
function connected<T>(items: readonly T[], isLinked: (one: T, other: T) => boolean): T[][] {
  const groups: T[][] = []
  const left = new Set(items)
  for (const first of items) {
    if (!left.delete(first)) continue
    const group = [first]
    for (const one of group) {
      const linked = [...left].filter((other) => isLinked(one, other))
      for (const other of linked) left.delete(other)
      group.push(...linked)
    }
    groups.push(group)
  }
  return groups
}
