const unitMs = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
// The micro sign and the Greek letter mu look the same; Go accepts both.
const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y

/** A pattern that matches every Go duration. */
export const durationPattern = '^[+-]?(0|([0-9]+\\.?[0-9]*|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$'

/** The milliseconds of a Go duration (`1m30s`, `250ms`, `-1h`); undefined if the text is not one. */
export function parseDuration(text: string): number | undefined {
  const [, sign, parts] = /^([+-]?)(.+)$/.exec(text) ?? []
  if (parts === undefined) return undefined
  if (parts === '0') return 0
  let sumMs = 0
  part.lastIndex = 0
  while (part.lastIndex < parts.length) {
    const [, amount, unit] = part.exec(parts) ?? []
    if (unit === undefined) return undefined
    // Rounded to the nanosecond, Go's resolution, so that 0.1s is 100 ms and not 100.00000000000001.
    sumMs = Math.round((sumMs + Number(amount) * unitMs[unit as keyof typeof unitMs]) * 1e6) / 1e6
  }
  return sign === '-' ? -sumMs : sumMs
}

/** The shortest Go duration for a number of milliseconds: `1h`, `1m30s`, `250ms`. */
export function formatDuration(ms: number): string {
  if (ms < 0) return `-${formatDuration(-ms)}`
  if (ms === 0) return '0s'
  if (ms < 1000) return `${ms}ms`
  const hours = Math.floor(ms / unitMs.h)
  const minutes = Math.floor((ms % unitMs.h) / unitMs.m)
  const seconds = (ms % unitMs.m) / unitMs.s
  return [hours && `${hours}h`, minutes && `${minutes}m`, seconds && `${seconds}s`].filter(Boolean).join('')
}
