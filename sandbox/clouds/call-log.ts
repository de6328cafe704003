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
  /** Absent while the call goes on, and when it was never answered. */
  status?: number
  ms?: number
  fault?: string
}

export type CallLog = {
  /** The calls, oldest first; those of one route where `on` names it. The latest 50,000 are kept. */
  all(on?: string): Call[]
  /** How many calls there were by route, every one of them counted. */
  counts(): Record<string, number>
  /** How many calls there were to the routes that `on` names, like `GET /projects/{id}/ips`. */
  count(on?: string): number
  clear(): void
  begin(call: Call): Call
}

const kept = 50_000

/** A log of every call to the vendor's API. */
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
    begin(call) {
      calls.push(call)
      // Cut rarely, and then by much: a log that is full would else be copied at every call.
      if (calls.length > kept * 1.1) calls = calls.slice(-kept)
      counts.set(call.route, (counts.get(call.route) ?? 0) + 1)
      return call
    },
  }
}

function matchesRoute(wanted: ReturnType<typeof routeMatcher>, route: string): boolean {
  const [method = '', path = ''] = route.split(' ')
  return wanted(method, path)
}
