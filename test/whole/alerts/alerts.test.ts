// Which alerts fire on what the real process showed while things went wrong around it. Its clock is set ahead by 30
// seconds between two scrapes, and promtool evaluates the recording.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Product } from '../../../sandbox/product.ts'
import { testAlerts } from '../../manifests/promtool.ts'
import { eventually } from '../eventually.ts'
import { loadBalancer } from '../manifests.ts'
import { openStage } from '../test-stage.ts'
import { record } from './recording.ts'
import { setClock } from './set-clock.ts'

const stage = await openStage()
const clock = setClock(stage.dir)
const { control } = stage.cloud
const scrapeMs = 30_000
const [scrapesPerService, scrapesPerSweep] = [10, 20]
/** A leader with a lease stops when its clock jumps, because another replica may lead by then. */
const leads = '--leader-elect=false'

/** What goes wrong, and what it fires. `possible` may fire or not: it depends on timers, which no clock sets ahead. */
type Expected = { fired: string[]; possible?: string[] }

type Hours = {
  readonly product: Product
  /** Lets so many minutes pass, with a Service created each five minutes. */
  pass(minutes: number, options?: { load?: boolean; sweeps?: boolean }): Promise<void>
  /** Ends the process and starts another one, under this name. */
  restart(instance: string, signal?: NodeJS.Signals): Promise<void>
  /** Checks what fired. */
  expect(expected: Expected): Promise<void>
  close(): Promise<void>
}

let services = 0

/** A process whose clock begins at the time of the machine, and the recording of it. */
async function startHours(flags: string[]): Promise<Hours> {
  const running = {
    env: { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: 'empty://', ...clock.env },
    flags: ['--sweep-interval=1s', '--webhook-probe-interval=1s', ...flags],
  }
  clock.set()
  const recording = record()
  let [product, instance] = [await stage.start(running), 'first']
  await eventually('nothing is left over', async (observe) => {
    const { text } = await product.health('/metrics')
    return /^eip_admission_oldest_pending_seconds 0$/m.test(observe(text)) || undefined
  })
  const startMs = Date.now()
  const nowMs = () => startMs + recording.length * scrapeMs
  const metrics = async () => (await product.health('/metrics')).text
  const scrape = async () => {
    clock.set(nowMs())
    recording.add({ [instance]: await metrics() })
  }
  /** Waits for a sweep that ended after the last scrape: by then the clock has not been set again. */
  const sweep = () => {
    const afterS = (nowMs() - scrapeMs) / 1000
    return eventually('a sweep', async (observe) => {
      const [, timeS] = /^eip_admission_last_sweep_timestamp_seconds (\S+)$/m.exec(await metrics()) ?? []
      return Number(observe(timeS)) > afterS || undefined
    })
  }
  return {
    get product() {
      return product
    },
    async pass(minutes, { load = true, sweeps = true } = {}) {
      for (let n = 0; n < (minutes * 60_000) / scrapeMs; n += 1) {
        await scrape()
        if (sweeps && n % scrapesPerSweep === 0) await sweep()
        // It is refused where the test is about that.
        if (load && n % scrapesPerService === 0)
          await stage.kubectl(['create', '-f', '-'], loadBalancer(`hour-${(services += 1)}`))
      }
    },
    async restart(name, signal) {
      await product.stop(signal)
      instance = name
      product = await stage.start(running)
    },
    async expect({ fired, possible = [] }) {
      const { code, output } = await testAlerts([
        {
          name: 'the recording',
          interval: '30s',
          startS: Math.round(startMs / 1000),
          series: recording.series(),
          until: `${recording.length * scrapeMs}ms`,
          fired,
          ignored: possible,
        },
      ])
      assert.is(code, 0, output)
    },
    close: async () => void (await product.stop()),
  }
}

/** Records what happens, and checks what fired. */
function scenario(
  name: string,
  { flags = [leads], ...expected }: Expected & { flags?: string[] },
  act: (hours: Hours) => Promise<void>,
): void {
  test(name, async () => {
    const hours = await startHours(flags)
    try {
      await act(hours)
      await hours.expect(expected)
    } finally {
      control.faults.clear()
      control.quota.set(5_000)
      await hours.close()
    }
  })
}

scenario('no replica that leads', { fired: ['EIPAdmissionNoLeader'], flags: ['--only=webhooks'] }, (hours) =>
  hours.pass(15, { load: false, sweeps: false }),
)

scenario('a quota that is used up', { fired: ['EIPAdmissionCloudRefuses'] }, async (hours) => {
  await hours.pass(10)
  control.quota.set(0)
  await hours.pass(30)
})

test.after(() => stage.close())

test.run()
