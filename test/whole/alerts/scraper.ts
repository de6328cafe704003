// Scrapes real processes in quick succession, and has promtool evaluate their metrics as if the usual interval were
// between two scrapes.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Product } from '../../../sandbox/product.ts'
import { type AlertRecording, endOf } from '../../manifests/alert-recordings.ts'
import { alertsOf, intervalS } from '../../manifests/promtool.ts'
import { eventually } from '../eventually.ts'
import { type Scrape, record } from './recording.ts'

const scrapesPerMinute = 60 / intervalS

export type Scraped = Pick<Product, 'health'>

export type Scraper = {
  /** Scrapes once, without the processes that do not answer. */
  scrape: () => Promise<void>
  /** Scrapes for this many minutes of the recording; `after` follows each scrape. */
  pass: (minutes: number, after: (n: number) => Promise<void>) => Promise<void>
  /** Scrapes twice a second during `act`: a minute of it is an hour of the recording. */
  during: <T>(act: Promise<T>) => Promise<T>
  /** Waits until one of the processes ends another sweep. */
  nextSweep: () => Promise<void>
  /** The metrics of the processes, the alerts that fired, and the alerts that fire or are about to at the end. */
  recording: () => Promise<AlertRecording>
}

/** Makes a scraper of the processes that exist at each scrape, by their names. */
export function makeScraper(products: () => Iterable<readonly [string, Scraped]>): Scraper {
  const recording = record(intervalS)
  const scrape = async () => recording.add(await scrapeAll(products()), Date.now())
  return {
    scrape,
    async pass(minutes, after) {
      for (let n = 0; n < minutes * scrapesPerMinute; n += 1) {
        await scrape()
        await after(n)
      }
    },
    async during(act) {
      const over = new AbortController()
      const ended = act.finally(() => over.abort())
      // `ended` is awaited below, after the last scrape.
      ended.catch(() => undefined)
      while (!over.signal.aborted) await Promise.all([scrape(), sleep(500)])
      return ended
    },
    async nextSweep() {
      const before = lastSweepS(await scrapeAll(products()))
      await eventually(
        'a sweep',
        async (observe) => observe(lastSweepS(await scrapeAll(products()))) > before || undefined,
      )
    },
    async recording() {
      const recorded = { scrapes: recording.length, series: recording.series() }
      return { ...(await alertsOf({ series: recorded.series, until: endOf(recorded) })), ...recorded }
    },
  }
}

/** The metrics of each process that answers. */
async function scrapeAll(products: Iterable<readonly [string, Scraped]>): Promise<Scrape> {
  const read = async ([instance, product]: readonly [string, Scraped]) => {
    const answer = await product.health('/metrics').catch(() => undefined)
    return answer?.status === 200 ? [[instance, answer.text]] : []
  }
  const answers = await Promise.all([...products].map(read))
  return Object.fromEntries(answers.flat())
}

function lastSweepS(scrape: Scrape): number {
  const times = Object.values(scrape).map(
    (text) => /^eip_admission_last_sweep_timestamp_seconds (\S+)$/m.exec(text)?.[1],
  )
  return Math.max(0, ...times.map((time) => Number(time ?? 0)))
}
