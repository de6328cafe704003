import { ControlError } from './control-error.ts'
import { routeMatcher, type RouteMatcher } from './route-matcher.ts'

export type LatencyRule = {
  /** The calls that it applies to, such as `POST /projects/{id}/ips`; every call when absent. */
  on?: string
  ms: number
  /** A random addition of up to this long. */
  jitterMs?: number
}

export type Latency = {
  /** Delays calls before any work is done; replaces an earlier rule with the same `on`. */
  set(rule: LatencyRule): void
  all(): LatencyRule[]
  clear(): void
  msFor(method: string, path: string): number
}

/** Makes the delays of calls. A rule for a route wins over the rule for every call, and a later rule over an earlier. */
export function makeLatency(): Latency {
  let rules: { rule: LatencyRule; matches: RouteMatcher }[] = []
  return {
    set(rule) {
      if (!(rule.ms >= 0 && (rule.jitterMs ?? 0) >= 0)) throw new ControlError('ms and jitterMs are 0 or more')
      const others = rules.filter((known) => known.rule.on !== rule.on)
      rules = [{ rule: { ...rule }, matches: routeMatcher(rule.on) }, ...others]
    },
    all: () => rules.map(({ rule }) => ({ ...rule })),
    clear() {
      rules = []
    },
    msFor(method, path) {
      const own = rules.find(({ rule, matches }) => rule.on !== undefined && matches(method, path))
      const { rule } = own ?? rules.find((known) => known.rule.on === undefined) ?? {}
      return rule ? rule.ms + Math.random() * (rule.jitterMs ?? 0) : 0
    },
  }
}
