import type { CallTotal } from '../../telemetry/activity.ts'
import type { Section } from '../section.ts'

export type CloudFacts = {
  name: string
  calls: readonly CallTotal[]
  lastSuccessAtMs: number | undefined
  locations: number | undefined
}

/** The calls to the provider since the start, by name. */
export function cloudSection({ name, calls, lastSuccessAtMs, locations }: CloudFacts, nowMs: number): Section {
  const total = calls.reduce((sum, { count }) => sum + count, 0)
  const failed = calls.reduce((sum, one) => sum + one.failed, 0)
  return {
    id: 'cloud',
    title: 'Provider',
    blocks: [
      {
        kind: 'tiles',
        tiles: [
          { label: 'provider', value: { text: name } },
          { label: 'calls', value: { text: String(total) } },
          { label: 'failed', value: { text: String(failed), ...(failed > 0 && { tone: 'warn' as const }) } },
          { label: 'last good call', value: { text: 'none yet', atMs: lastSuccessAtMs } },
          { label: 'locations', value: { text: locations === undefined ? 'not read yet' : String(locations) } },
        ],
      },
      {
        kind: 'table',
        columns: ['call', 'count', 'failed', 'last good', 'last failure'],
        rows: calls
          .toSorted((one, other) => (one.call < other.call ? -1 : 1))
          .map((one) => [
            { text: one.call },
            { text: String(one.count) },
            { text: String(one.failed), ...(isFailing(one, nowMs) && { tone: 'bad' as const }) },
            { text: 'never', atMs: one.succeededAtMs },
            one.fault === undefined
              ? { text: '' }
              : {
                  atMs: one.failedAtMs,
                  detail: one.status === undefined ? one.fault : `${one.fault}, status ${one.status}`,
                },
          ]),
        empty: 'No call yet.',
      },
    ],
  }
}

/** Needed calls are retried sooner than this, so an older failure no longer matters. */
const repeatedWithinMs = 15 * 60_000

/** Whether the last exchange of a call failed recently. */
export function isFailing({ failedAtMs, succeededAtMs = 0 }: CallTotal, nowMs: number): boolean {
  return failedAtMs !== undefined && failedAtMs > succeededAtMs && nowMs - failedAtMs < repeatedWithinMs
}
