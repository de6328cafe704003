// The routes that routers have to each address, and how many they lost: their logs record every change.
import * as assert from 'uvu/assert'
import type { Rig } from '../../sandbox/rig/rig.ts'
import type { Provider } from '../../sandbox/rig/providers.ts'
import { eventually } from '../whole/eventually.ts'

export type Ways = {
  rig: Pick<Rig, 'routers'>
  provider: Provider
  machines: { name: string; address: string }[]
  /** By Service. */
  addresses: Map<string, string>
}

/** MetalLB waits up to two minutes before it reopens a session that was reset several times. */
const announcedMs = 80_000

/** Waits until every router sends packets for exactly these addresses, to every machine. */
export function allLead({ rig, provider, machines }: Omit<Ways, 'addresses'>, addresses: string[]): Promise<true> {
  const wanted = addresses
    .flatMap((address) =>
      provider.routers.flatMap((router) => machines.map((machine) => `${router} ${address}/32 ${machine.address}`)),
    )
    .toSorted()
  return eventually(
    `${addresses.length} addresses lead to ${machines.length} machines`,
    async (observe) => {
      const ways = observe(await rig.routers.routes()).map(({ router, prefix, via }) => `${router} ${prefix} ${via}`)
      return ways.toSorted().join() === wanted.join() || undefined
    },
    announcedMs,
  )
}

/**
 * The fewest routes that each router had to each address since a point in time, and how many were lost. The routers log
 * every change; a log is complete if it results in the current routes.
 */
export async function waysSince({ rig, provider, machines, addresses }: Ways, sinceMs: number) {
  const rows = new Map<string, { now: number; fewest: number; lost: number }>()
  for (const router of provider.routers) {
    for (const address of addresses.values()) {
      rows.set(`${router} ${address}/32`, { now: machines.length, fewest: machines.length, lost: 0 })
    }
  }
  const both = new Map([...addresses.values()].map((address) => [`${address}/32`, Infinity]))
  for (const { atMs, what, router, prefix } of rig.routers.changes()) {
    const row = rows.get(`${router} ${prefix}`)
    if (!row || atMs < sinceMs) continue
    // The line about the last route may be written a moment after the route exists.
    row.now = what === 'learned' ? Math.min(row.now + 1, machines.length) : row.now - 1
    row.fewest = Math.min(row.fewest, row.now)
    if (what === 'lost') row.lost += 1
    const sum = provider.routers.reduce((all, one) => all + (rows.get(`${one} ${prefix}`)?.now ?? 0), 0)
    both.set(prefix, Math.min(both.get(prefix) ?? Infinity, sum))
  }
  const there = Map.groupBy(await rig.routers.routes(), ({ router, prefix }) => `${router} ${prefix}`)
  for (const [place, { now }] of rows) assert.is(there.get(place)?.length ?? 0, now, `the log of ${place} is complete`)
  const all = [...rows.values()]
  return {
    fewestAtARouter: Math.min(...all.map(({ fewest }) => fewest)),
    fewestAnywhere: Math.min(...both.values()),
    lost: [...new Set(all.map(({ lost }) => lost))],
  }
}
