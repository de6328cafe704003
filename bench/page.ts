import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '../sandbox/ports.ts'
import type { Stage } from '../sandbox/stage.ts'
import { withImage } from './image.ts'
import { inFlight } from './in-flight.ts'
import type { Row } from './measure.ts'
import { memoryMiB } from './proc.ts'
import { type Admin, bound, createWithAddress, env, onStage, swept } from './stage.ts'

const [few, many] = [10, 1000]
const clients = 8
const readers = 10
/** Their browsers load the page again every five seconds. */
const reloadMs = 5_000
/** Long enough for several views, and until the garbage of the first ones is collected. */
const lookMs = 15_000

/** The size of the status page with many Services, and the memory that its readers cost. */
export function page(): Promise<Row[]> {
  return withImage((rootfs) => onStage(measure, { rootfs }))
}

async function measure(stage: Stage, admin: Admin): Promise<Row[]> {
  const [port = 0] = await freePorts(1)
  const url = `http://127.0.0.1:${port}/status`
  const { pid } = await stage.serve({ env, flags: [`--status-page-address=127.0.0.1:${port}`] })
  await swept(admin)
  stage.cloud.control.quota.set(2 * many)
  const create = (from: number, to: number) =>
    inFlight(clients, to - from, async (place) => void (await createWithAddress(admin, `web-${from + place}`)))
  await create(0, few)
  await bound(admin, few)
  const small = await kibOf(url)
  await create(few, many)
  await bound(admin, many)
  const large = await kibOf(url)
  await sleep(lookMs)
  const alone = memoryMiB(pid)
  await lookAt(url, lookMs)
  const watched = memoryMiB(pid)
  return [
    {
      measure: 'status page with 1,000 Services',
      unit: 'KiB',
      ours: [large],
      beside: { what: 'with 10', samples: [small] },
      goal: { of: 'ours', atMost: 250 },
    },
    {
      measure: 'memory after ten people looked at it',
      unit: 'MiB',
      ours: [watched.resident],
      beside: { what: 'before', samples: [alone.resident] },
      goal: { of: 'ratio', atMost: 1.3 },
    },
  ]
}

async function kibOf(url: string): Promise<number> {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`)
  return Math.round((await answer.arrayBuffer()).byteLength / 1024)
}

/** Reads the page as this many browsers, until the time is over. */
async function lookAt(url: string, ms: number): Promise<void> {
  for (const endsAtMs = performance.now() + ms; performance.now() < endsAtMs; await sleep(reloadMs))
    await Promise.all(Array.from({ length: readers }, () => kibOf(url)))
}
