// Compresses hours of alerts into a minute, and checks which fired.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '../../../kube/objects.ts'
import { services } from '../../../kube/resource.ts'
import type { Product } from '../../../sandbox/product.ts'
import { eventually } from '../eventually.ts'
import { loadBalancer } from '../manifests.ts'
import type { TestStage } from '../test-stage.ts'
import { expectAlerts } from './expect-alerts.ts'
import { makeScraper } from './scraper.ts'

/** How long a process may take to finish its work. */
const graceMs = 60_000
/** The pace of users and sweeps, in scrapes: a Service every five minutes, and a sweep at least every ten. */
const [scrapesPerService, scrapesPerSweep] = [10, 20]
/** This many Services stay while others are created. */
const keptServices = 2

export type Passing = {
  /** Whether users create and delete Services during that time. */
  load?: boolean
  /** Whether the cloud grants addresses now: then each scrape waits until the users' Services have theirs. */
  grants?: boolean
  /** Whether a sweep ends every ten minutes. */
  sweeps?: boolean
  /** The real time between two scrapes. */
  paceMs?: number
}

export type Hours = {
  /** Starts the product with these flags and scrapes it under this name. */
  start: (instance: string, flags?: string[]) => Promise<Product>
  /** Ends a process: later scrapes lack it. */
  end: (instance: string, signal?: NodeJS.Signals) => Promise<void>
  /** Lets this many minutes pass. */
  pass: (minutes: number, passing?: Passing) => Promise<void>
  /**
   * Checks that exactly these alerts fired. `atEnd` are the alerts that still fire, or are about to: all of them,
   * unless given.
   */
  expect: (fired: string[], options?: { atEnd?: string[] }) => Promise<void>
}

const running = { env: { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: 'empty://' } }
/** Within a second of real time, a process sweeps and probes as it does in ten minutes. */
const quick = ['--sweep-interval=1s', '--webhook-probe-interval=1s']

/** A test with its own recording of this name. Its processes and the faults of the cloud end with it. */
export function inHours(stage: TestStage, name: string, act: (hours: Hours) => Promise<void>): () => Promise<void> {
  return async () => {
    const products = new Map<string, Product>()
    try {
      await act(startHours(stage, name, products))
    } finally {
      const { faults, latency, quota } = stage.cloud.control
      faults.clear()
      latency.clear()
      quota.set(5_000)
      await Promise.all([...products.values()].map((product) => product.stop('SIGTERM', graceMs)))
    }
  }
}

function startHours(stage: TestStage, name: string, products: Map<string, Product>): Hours {
  const scraper = makeScraper(() => products)
  const users = makeUsers(stage)
  return {
    async start(instance, flags = []) {
      const product = await stage.start({ ...running, flags: [...quick, ...flags] })
      await nothingPending(product)
      products.set(instance, product)
      return product
    },
    async end(instance, signal) {
      await products.get(instance)?.stop(signal, graceMs)
      products.delete(instance)
    },
    async pass(minutes, { load = true, grants = true, sweeps = true, paceMs = 0 } = {}) {
      await scraper.pass(minutes, async (n) => {
        await sleep(paceMs)
        if (sweeps && n % scrapesPerSweep === 0) await scraper.nextSweep()
        if (!load || n % scrapesPerService !== 0) return
        await users()
        // Five minutes of scrapes take less real time than one slow answer of the cloud.
        if (grants) await Promise.all([...products.values()].map(nothingPending))
      })
      // The last sweep may have counted a reservation while users deleted its Service. A sweep that begins now does
      // not.
      if (!load || !sweeps) return
      for (let n = 0; n < 2; n += 1) await scraper.nextSweep()
      await scraper.scrape()
    },
    expect: (fired, options) => expectAlerts(scraper, name, { fired, ...options }),
  }
}

/** Waits until no Service waits for an address. */
async function nothingPending(product: Product): Promise<void> {
  await eventually('no address is awaited', async (observe) => {
    const [line] = /^eip_admission_oldest_pending_seconds .*$/m.exec((await product.health('/metrics')).text) ?? []
    return observe(line)?.endsWith(' 0') || undefined
  })
}

let created = 0

/** Creates a Service at each call, and deletes an older one. Users accept refusals by the cloud or a limit. */
function makeUsers({ client }: Pick<TestStage, 'client'>): () => Promise<void> {
  const kept: string[] = []
  return async () => {
    const name = `hour-${(created += 1)}`
    const stored = await client
      .create(services, loadBalancer(name, { namespace: 'default' }) as Service)
      .catch(() => undefined)
    if (stored) kept.push(name)
    const [oldest] = kept
    if (oldest !== undefined && kept.length > keptServices) {
      kept.shift()
      await client.remove(services, { namespace: 'default', name: oldest })
    }
  }
}
