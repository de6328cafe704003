import { command, text } from './command.ts'
import { ControlError } from './control-error.ts'
import { routeMatcher, type RouteMatcher } from './route-matcher.ts'

type LatencyRule = {
  /** The calls that it applies to, such as `POST /projects/{id}/ips`; every call when absent. */
  on?: string
  ms: number
  /** A random addition of up to this long. */
  jitterMs?: number
}

export type Latency = ReturnType<typeof makeLatency>

/** Makes the delays of calls. A rule for a route wins over the rule for every call, and a later rule over an earlier. */
export function makeLatency() {
  let rules: { rule: LatencyRule; matches: RouteMatcher }[] = []
  const all = () => rules.map(({ rule }) => ({ ...rule }))
  return {
    all: command({ route: 'GET /latency', help: 'Lists the delays.' }, all),
    /** Replaces an earlier rule with the same `on`. */
    set: command(
      {
        route: 'PUT /latency',
        help: 'Delays every call, or those of one route ("on"), before any work is done.',
        example: '{"on":"POST /projects/*/ips","ms":250,"jitterMs":50}',
        fields: { ms: { type: 'number' } },
        optional: { on: text, jitterMs: { type: 'number' } },
        answer: all,
      },
      (rule: LatencyRule): void => {
        if (!(rule.ms >= 0 && (rule.jitterMs ?? 0) >= 0)) throw new ControlError('ms and jitterMs are 0 or more')
        const others = rules.filter((known) => known.rule.on !== rule.on)
        rules = [{ rule: { ...rule }, matches: routeMatcher(rule.on) }, ...others]
      },
    ),
    clear: command({ route: 'DELETE /latency', help: 'Removes every delay.' }, () => void (rules = [])),
    msFor(method: string, path: string): number {
      const own = rules.find(({ rule, matches }) => rule.on !== undefined && matches(method, path))
      const { rule } = own ?? rules.find((known) => known.rule.on === undefined) ?? {}
      return rule ? rule.ms + Math.random() * (rule.jitterMs ?? 0) : 0
    },
  }
}
