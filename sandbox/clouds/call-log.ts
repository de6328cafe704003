import { command } from './command.ts'
import { routeMatcher } from './route-matcher.ts'

export type Call = {
  at: string
  method: string
  path: string
  query: string
  /** Method and path as the vendor documents them, like `POST /projects/{id}/ips`. */
  route: string
  /** The label of the token that was sent, `unknown` or `none`; never the token. */
  caller: string
  /** Absent until the call is answered. */
  status?: number
  ms?: number
  fault?: string
}

export type CallLog = ReturnType<typeof makeCallLog>

const maxCalls = 50_000

/** Makes the log of every call to the vendor's API. `on` selects a route, such as `GET /projects/{id}/ips`. */
export function makeCallLog() {
  let calls: Call[] = []
  let counts = new Map<string, number>()
  return {
    /** Returns the latest 50,000 calls, oldest first. */
    all: command(
      { route: 'GET /calls', help: 'Lists the calls; ?on=GET+/ips/* selects a route.', query: 'on' },
      (on?: string) => {
        const wanted = routeMatcher(on)
        return calls.filter(({ route }) => matchesRoute(wanted, route)).map((call) => ({ ...call }))
      },
    ),
    counts: command({ route: 'GET /calls/counts', help: 'Counts the calls of each route.' }, () =>
      Object.fromEntries(counts),
    ),
    /** Returns the number of all calls, also of those that the log no longer has. */
    count(on?: string): number {
      const wanted = routeMatcher(on)
      const matching = [...counts].filter(([route]) => matchesRoute(wanted, route))
      return matching.reduce((sum, [, count]) => sum + count, 0)
    },
    clear: command({ route: 'DELETE /calls', help: 'Clears the list of calls.' }, () => {
      calls = []
      counts = new Map()
    }),
    /** Adds a call that has begun; the caller completes the returned object. */
    add(call: Call): Call {
      calls.push(call)
      // Cuts 10 % at a time: cutting one entry at a time would copy a full log at every call.
      if (calls.length > maxCalls * 1.1) calls = calls.slice(-maxCalls)
      counts.set(call.route, (counts.get(call.route) ?? 0) + 1)
      return call
    },
  }
}

function matchesRoute(wanted: ReturnType<typeof routeMatcher>, route: string): boolean {
  const [method = '', path = ''] = route.split(' ')
  return wanted(method, path)
}
