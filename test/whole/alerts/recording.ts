// Converts the processes' metrics at each scrape into the series that Prometheus would have.
import { ruleMetrics, targetLabels } from '../../manifests/alert-recordings.ts'
import type { Series } from '../../manifests/alert-series.ts'
import { type Timeline, timeline } from './timeline.ts'

/** The text of each process that answered, by its name. */
export type Scrape = Record<string, string>

export type Recording = {
  /** Keeps one scrape, which was read at this time. */
  add(scrape: Scrape, atMs: number): void
  /** The number of scrapes. */
  readonly length: number
  /**
   * The series that the rules use, in promtool's notation. The first scrape is at 0, and each later one follows after
   * an interval.
   */
  series(): Series
}

type Sample = { metric: string; labels: string; value: number }

/** A recording without scrapes. */
export function record(intervalS: number): Recording {
  const scrapes: { samples: Map<string, Sample>; atMs: number }[] = []
  return {
    add: (scrape, atMs) => void scrapes.push({ atMs, samples: samplesOf(scrape) }),
    get length() {
      return scrapes.length
    },
    series() {
      const line = timeline({ intervalS, scrapesMs: scrapes.map(({ atMs }) => atMs) })
      const names = new Set(scrapes.flatMap(({ samples }) => [...samples.keys()]))
      const valuesOf = (name: string) => scrapes.map(({ samples }, n) => textOf(samples.get(name), line, n))
      return Object.fromEntries([...names].map((name) => [name, inNotation(valuesOf(name))]))
    },
  }
}

/** The samples of all processes by series. */
function samplesOf(scrape: Scrape): Map<string, Sample> {
  const all = Object.entries(scrape).flatMap(([instance, text]) => samplesIn(text, instance))
  return new Map(all.map((sample) => [`${sample.metric}{${sample.labels}}`, sample]))
}

/** The samples of a text in Prometheus' format, with the labels of a target. */
function samplesIn(text: string, instance: string): Sample[] {
  const target = `${targetLabels},instance="${instance}"`
  return text
    .split('\n')
    .filter((line) => ruleMetrics.has(/^\w*/.exec(line)?.[0] ?? ''))
    .map((line) => {
      const [, metric = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      return { metric, labels: [target, labels].filter(Boolean).join(','), value: Number(value) }
    })
}

/**
 * Rounds to whole numbers: the rules count objects and seconds, and the same time is then the same number at each
 * scrape.
 */
function textOf(sample: Sample | undefined, line: Timeline, n: number): string | undefined {
  return sample && String(Math.round(line.valueOf(sample.metric, sample.value, n)))
}

/** Joins successive equal values. A series that ends is stale at once, as Prometheus marks it. */
function inNotation(values: (string | undefined)[]): string {
  const marked = values.map((value, n) => value ?? (n > 0 && values[n - 1] !== undefined ? 'stale' : '_'))
  const runs: { value: string; times: number }[] = []
  for (const value of marked) {
    const last = runs.at(-1)
    if (last?.value === value) last.times += 1
    else runs.push({ value, times: 1 })
  }
  return runs.map(({ value, times }) => run(value, times)).join(' ')
}

/** `1x2` means three times 1, but `_x2` means two missing values. */
function run(value: string, times: number): string {
  if (times === 1) return value
  return value === '_' ? `_x${times}` : `${value}x${times - 1}`
}
