import { join } from 'node:path'
import { mutatingWebhookConfigurations, services } from '../kube/resource.ts'
import { names } from '../settings/installed-names.ts'
import { type Child, startChild } from '../sandbox/child.ts'
import { type Seen, load } from './load.ts'
import type { Row } from './measure.ts'
import { cpuMs } from './proc.ts'
import { reviewsOf } from './reviews.ts'
import { inRounds, median } from './samples.ts'
import { type Admin, bound, createWithAddress, env, onStage, swept } from './stage.ts'

const rounds = 7
const warmUp = 2000
const alone = { connections: 1, requests: 1000 }
const crowd = { connections: 8, requests: 4000 }

type Server = { pid: number; port: number; path: string }
type Figures = Record<'p50' | 'perSecond' | 'cpu', number[]>

/** The cost of a review in the whole product, compared with the least that a review can cost with node:https. */
export function webhook(): Promise<Row[]> {
  return onStage(async (stage, admin) => {
    const { pid } = await stage.serve({ env })
    const ours = { pid, ...(await listenerOf(admin)) }
    const { bare, child } = await startBare()
    try {
      await swept(admin)
      await createWithAddress(admin, 'web')
      await bound(admin, 1)
      const stored = await admin.get(services, { namespace: 'default', name: 'web' })
      if (!stored) throw new Error('Service default/web no longer exists')
      const reviews = reviewsOf(stored)
      return [
        ...(await compare({ ours, bare, body: reviews['no-op'] }, 'update that changes nothing', true)),
        ...(await compare({ ours, bare, body: reviews.restore }, 'update that dropped the address', false)),
        ...(await compare({ ours, bare, body: reviews.ignored }, 'Service of another class', false)),
      ]
    } finally {
      await child.stop()
    }
  })
}

async function listenerOf(admin: Admin): Promise<{ port: number; path: string }> {
  const stored = await admin.get(mutatingWebhookConfigurations, { name: names.mutatingConfiguration })
  const url = new URL(stored?.webhooks?.[0]?.clientConfig.url ?? '')
  // The API server sends its time-out.
  return { port: Number(url.port), path: `${url.pathname}?timeout=10s` }
}

async function startBare(): Promise<{ bare: Server; child: Child }> {
  const says = Promise.withResolvers<string>()
  const entry = join(import.meta.dirname, 'bare-webhook.ts')
  const child = startChild([process.execPath, entry], { env: { PATH: process.env.PATH }, onLine: says.resolve })
  const { port } = JSON.parse(await says.promise) as { port: number }
  return { bare: { pid: child.pid, port, path: '/' }, child }
}

async function compare(
  { ours, bare, body }: { ours: Server; bare: Server; body: string },
  what: string,
  hasGoal: boolean,
): Promise<Row[]> {
  const seen = { ours: noFigures(), bare: noFigures() }
  for (const server of [ours, bare]) await load({ ...server, body, ...crowd, requests: warmUp })
  await inRounds(rounds, {
    ours: () => observe(ours, body, seen.ours),
    bare: () => observe(bare, body, seen.bare),
  })
  const row = (name: string, figure: keyof Figures, unit: 'ms' | 'per s'): Row => ({
    measure: `webhook, ${what}: ${name}`,
    unit,
    ours: seen.ours[figure],
    beside: { what: 'bare node:https', samples: seen.bare[figure] },
  })
  return [
    { ...row('p50', 'p50', 'ms'), ...(hasGoal && { goal: { of: 'ratio', atMost: 1.3 } }) },
    { ...row('8 connections', 'perSecond', 'per s'), ...(hasGoal && { goal: { of: 'ratio', atLeast: 0.75 } }) },
    row('time on a core', 'cpu', 'ms'),
  ]
}

function noFigures(): Figures {
  return { p50: [], perSecond: [], cpu: [] }
}

/** A single connection measures the latency of a review; eight keep the server busy and measure its cost. */
async function observe(server: Server, body: string, figures: Figures): Promise<void> {
  const one: Seen = await load({ ...server, body, ...alone })
  const before = cpuMs(server.pid)
  const many: Seen = await load({ ...server, body, ...crowd })
  figures.p50.push(median(one.latenciesMs))
  figures.perSecond.push(many.perSecond)
  figures.cpu.push((cpuMs(server.pid) - before) / crowd.requests)
}
