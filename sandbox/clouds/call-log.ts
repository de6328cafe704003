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

export type CallLog = {
  /** Returns the latest 50,000 calls, oldest first, or those of them to the routes that `on` names. */
  all(on?: string): Call[]
  /** Returns the number of all calls by route. */
  counts(): Record<string, number>
  /** Returns the number of calls to the routes that `on` names, such as `GET /projects/{id}/ips`. */
  count(on?: string): number
  clear(): void
  /** Adds a call that has begun; the caller completes the returned object. */
  add(call: Call): Call
}

const maxCalls = 50_000

/** Makes the log of every call to the vendor's API. */
export function makeCallLog(): CallLog {
  let calls: Call[] = []
  let counts = new Map<string, number>()
  return {
    all(on) {
      const wanted = routeMatcher(on)
      return calls.filter(({ route }) => matchesRoute(wanted, route)).map((call) => ({ ...call }))
    },
    counts: () => Object.fromEntries(counts),
    count(on) {
      const wanted = routeMatcher(on)
      const matching = [...counts].filter(([route]) => matchesRoute(wanted, route))
      return matching.reduce((sum, [, count]) => sum + count, 0)
    },
    clear() {
      calls = []
      counts = new Map()
    },
    add(call) {
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
