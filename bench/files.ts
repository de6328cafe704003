// node bench/files.ts [list]: counts the product's files that run between a user's request and its answer. V8 counts
// the functions that ran between two takes; files that also run at rest (leases, clocks) are left out. `list` prints
// them.
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { services } from '../kube/resource.ts'
import { elasticIPs } from '../ledger/record/elastic-ip.ts'
import { commandVariable } from '../sandbox/product-command.ts'

const root = join(import.meta.dirname, '..')
process.env[commandVariable] = JSON.stringify([
  process.execPath,
  '--inspect=127.0.0.1:0',
  join(root, 'server', 'main.ts'),
])
// The module reads the variable when it is loaded.
const { bound, createWithAddress, env, onStage, swept, until } = await import('./stage.ts')

const goals = { create: 30, delete: 28, sweep: 20 }
const sweepMs = 10_000
const at = { namespace: 'default', name: 'web' }

type Coverage = {
  result: { url: string; functions: { functionName: string; ranges: { count: number }[] }[] }[]
}

const found = await onStage(async (stage, admin) => {
  await stage.serve({ env, flags: [`--sweep-interval=${sweepMs}ms`] })
  await swept(admin)
  const { take, close } = await coverageOf(stage.logOf('eip-admission'))
  // The first use of a function compiles it, and a first create fills caches.
  await createWithAddress(admin, 'first')
  await bound(admin, 1)
  const during = async (work: () => Promise<unknown>) => {
    await take()
    await work()
    return take()
  }
  // First two sweeps and all periodic work, then an interval without a sweep.
  await sleep(2 * sweepMs)
  const withSweep = await during(() => sleep(1.5 * sweepMs))
  const isSweep = (file: string) => file.startsWith('ledger/sweep/sweep.')
  let rest = withSweep
  for (let tries = 0; tries < 20 && rest.some(isSweep); tries++) rest = await during(() => sleep(sweepMs / 3))
  const without = (all: string[]) => all.filter((file) => !rest.includes(file))
  const create = await during(() => createWithAddress(admin, at.name))
  await bound(admin, 2)
  const deleted = await during(async () => {
    await admin.remove(services, at)
    await until('the record is deleted', async () => (await admin.list(elasticIPs)).items.length === 1)
  })
  // A process does not end while a debugger is attached.
  close()
  return { create: without(create), delete: without(deleted), sweep: without(withSweep) }
})

for (const [what, files] of Object.entries(found)) {
  console.log(`${what}: ${files.length} files (goal: ${goals[what as keyof typeof goals]})`)
  if (process.argv.includes('list')) console.log(files.map((file) => `  ${file}`).join('\n'))
}

/** Asks the inspector of a process, whose address is in its log, which files ran since the previous take. */
async function coverageOf(logFile: string): Promise<{ take: () => Promise<string[]>; close: () => void }> {
  const [url] = /ws:\/\/\S+/.exec(readFileSync(logFile, 'utf8')) ?? []
  if (url === undefined) throw new Error(`the log ${logFile} names no inspector`)
  const socket = new WebSocket(url)
  const { promise: opened, resolve } = Promise.withResolvers<void>()
  socket.addEventListener('open', () => resolve())
  await opened
  const waiting = new Map<number, (result: unknown) => void>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id: number; result: unknown }
    waiting.get(id)?.(result)
  })
  let last = 0
  const ask = (method: string, params: object = {}) => {
    const { promise, resolve: answered } = Promise.withResolvers<unknown>()
    waiting.set(++last, answered)
    socket.send(JSON.stringify({ id: last, method, params }))
    return promise
  }
  await ask('Profiler.enable')
  await ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const take = async () => ranIn((await ask('Profiler.takePreciseCoverage')) as Coverage)
  return { take, close: () => socket.close() }
}

/** The files of the product in which a function ran. */
function ranIn({ result }: Coverage): string[] {
  return result
    .filter(({ url }) => url.startsWith('file:') && !url.includes('/node_modules/'))
    .filter(({ functions }) => functions.some(({ functionName, ranges }) => functionName && ranges[0]?.count))
    .map(({ url }) => relative(root, fileURLToPath(url)))
    .toSorted()
}
