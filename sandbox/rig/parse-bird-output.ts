// Parses the output and the log of BIRD. Pure functions.

/** A route to a prefix. */
export type Route = { prefix: string; via: string }

/** When a router learned or lost a route to a prefix. */
export type Change = { atMs: number; what: 'learned' | 'lost'; prefix: string }

/** Parses `show route`: a line with the prefix, which further routes to it omit, then a line `via 10.0.0.5 on x`. */
export function parseRoutes(lines: string[]): Route[] {
  const routes: Route[] = []
  let prefix = ''
  for (const line of lines) {
    prefix = /^[\d.]+\/\d+/.exec(line)?.[0] ?? prefix
    const via = /^\s+via (\S+)/.exec(line)?.[1]
    if (via !== undefined) routes.push({ prefix, via })
  }
  return routes
}

/** Parses `show protocols all`: returns the neighbours with an established session. */
export function parseNeighbours(lines: string[]): string[] {
  const up: string[] = []
  let state = ''
  for (const line of lines) {
    state = /^\s+BGP state:\s+(\S+)/.exec(line)?.[1] ?? state
    const neighbour = /^\s+Neighbor address:\s+(\S+)/.exec(line)?.[1]
    if (neighbour !== undefined && state === 'Established') up.push(neighbour)
  }
  return up
}

/** Parses the log, whose times are UTC: `2026-01-31 12:00:00.123 <TRACE> machine1.ipv4 > added 203.0.113.7/32 unicast`. */
export function parseChanges(log: string): Change[] {
  const found = log.matchAll(/^(\S+) (\S+) <TRACE> \S+ > (added|removed) .*?([\d.]+\/\d+) /gm)
  return [...found].map(([, day, time, what, prefix = '']) => ({
    atMs: Date.parse(`${day}T${time}Z`),
    what: what === 'added' ? 'learned' : 'lost',
    prefix,
  }))
}
