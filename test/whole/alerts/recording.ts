// What the process showed at each scrape, as the series that Prometheus would have.
import type { Series } from '../../manifests/alert-series.ts'

export type Recording = {
  /** Keeps one scrape: the text of each replica that answered, by its name. */
  add(scrapes: Record<string, string>): void
  /** The number of scrapes. */
  readonly length: number
  /** The series in promtool's notation. */
  series(): Series
}

/** A recording without scrapes. */
export function record(): Recording {
  const scrapes: Map<string, string>[] = []
  return {
    add: (texts) => void scrapes.push(new Map(Object.entries(texts).flatMap(([name, text]) => samplesIn(text, name)))),
    get length() {
      return scrapes.length
    },
    series() {
      const names = new Set(scrapes.flatMap((scrape) => [...scrape.keys()]))
      return Object.fromEntries([...names].map((name) => [name, valuesOf(scrapes.map((scrape) => scrape.get(name)))]))
    },
  }
}

/** The samples of a text in Prometheus' format, with the labels of a target. */
function samplesIn(text: string, instance: string): [string, string][] {
  const target = `namespace="eip-admission",job="eip-admission-metrics",instance="${instance}"`
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      return [`${name}{${[target, labels].filter(Boolean).join(',')}}`, plain(value)]
    })
}

/** promtool reads no exponents. */
function plain(value: string): string {
  return /e/i.test(value) ? Number(value).toFixed(12) : value
}

/** The same values in a row as one. What ends is stale at once, as Prometheus marks it. */
function valuesOf(values: (string | undefined)[]): string {
  const marked = values.map((value, n) => value ?? (n > 0 && values[n - 1] !== undefined ? 'stale' : '_'))
  const runs: { value: string; times: number }[] = []
  for (const value of marked) {
    const last = runs.at(-1)
    if (last?.value === value) last.times += 1
    else runs.push({ value, times: 1 })
  }
  return runs.map(({ value, times }) => run(value, times)).join(' ')
}

/** `1x2` is three times 1, but `_x2` twice nothing. */
function run(value: string, times: number): string {
  if (times === 1) return value
  return value === '_' ? `_x${times}` : `${value}x${times - 1}`
}
