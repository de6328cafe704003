import { writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { services } from '../../kube/resource.ts'
import type { DialectName } from '../../sandbox/dialects.ts'
import { type Arena, openArena } from './arena.ts'
import { type Tally, manifest } from './action.ts'
import { ensureNamespaces, isRefusal, isUsual, nextAction } from './actions.ts'
import { atRest, removeWaiting, stateOf } from './invariants.ts'
import { type Random, random } from './random.ts'
import { anchor } from './strangers.ts'
import { alertViolations, watchAlerts } from './alerts.ts'

export type WalkOptions = {
  dialect: DialectName
  seed: number
  steps: number
  /** Steps between two checks. */
  leg?: number
  report?: (text: string) => void
  /** Whether promtool evaluates the scraped metrics: each alert needs a trouble that explains it. */
  alerts?: boolean
}

/**
 * How long everything may take to settle, including leases, requests in flight and grace periods of killed processes.
 */
const restMs = 150_000

/** Does random actions, and checks after each leg that no address is lost and none has two holders. */
export async function walk(options: WalkOptions): Promise<Tally> {
  const { dialect, seed, alerts = false, report = () => undefined } = options
  // Without a warm pool, more creates wait for the cloud. Without careless people, no reservation may be left over.
  const arena = await openArena(dialect, { warmPool: seed % 2 === 0 ? 2 : 0, isCareless: seed % 3 === 0 })
  const tally: Tally = { steps: 0, faults: 0, kills: 0, refusals: 0, violations: [], troubles: new Set() }
  try {
    await arena.client.create(services, manifest(anchor, 'LoadBalancer'))
    if (alerts) await walkWatched(arena, tally, options)
    else await walkLegs(arena, tally, options)
    if (tally.violations.length > 0) {
      writeFileSync(join(arena.logs, 'state.json'), JSON.stringify(await stateOf(arena), undefined, 1))
      report(`the logs and the state are in ${arena.logs}`)
    }
    return tally
  } finally {
    await arena.close(tally.violations.length === 0)
  }
}

async function walkLegs(arena: Arena, tally: Tally, options: WalkOptions): Promise<void> {
  const { seed, steps, leg = 100, report = () => undefined } = options
  const dice = random(seed)
  while (tally.steps < steps && tally.violations.length === 0) {
    await runLeg(arena, dice, { tally, until: Math.min(steps, tally.steps + leg) })
    const wrong = await atRest(arena, restMs)
    tally.violations.push(...wrong.map((text) => `after step ${tally.steps}: ${text}`))
    report(`${tally.steps} steps, ${tally.faults} faults, ${tally.kills} kills, ${tally.violations.length} violations`)
  }
}

/** With this many waiting processes per processor, calls fail without any other trouble. */
const busyLoad = 5

async function walkWatched(arena: Arena, tally: Tally, options: WalkOptions): Promise<void> {
  const watched = watchAlerts(arena)
  await watched.during(walkLegs(arena, tally, options))
  const [load = 0] = loadavg()
  if (load > busyLoad * availableParallelism()) tally.troubles.add('busy machine')
  if (tally.violations.length > 0) return
  await removeWaiting(arena)
  await watched.calm()
  const alerts = await watched.recording()
  options.report?.(`fired: ${alerts.fired.join(', ') || 'nothing'}; troubles: ${[...tally.troubles].join(', ')}`)
  tally.violations.push(...alertViolations(alerts, tally.troubles))
}

/** Up to this many steps overlap, like those of several users. */
const mostAtOnce = 8

async function runLeg(arena: Arena, dice: Random, { tally, until }: { tally: Tally; until: number }): Promise<void> {
  const under = new Set<Promise<void>>()
  for (; tally.steps < until; tally.steps += 1) {
    const { name, run, isAlone } = nextAction(arena, dice)
    const step = attempt(name, tally, async () => {
      if (name === 'create') await ensureNamespaces(arena)
      await run(arena, dice, tally)
    }).finally(() => under.delete(step))
    under.add(step)
    if (isAlone || dice.happens(0.3)) await step
    else if (under.size >= mostAtOnce) await Promise.race(under)
  }
  await Promise.all(under)
}

async function attempt(name: string, tally: Tally, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (isRefusal(error)) tally.refusals += 1
    else if (!isUsual(error) && !isOutage(error)) tally.violations.push(`${name} failed: ${String(error)}`)
  }
}

/** The walk restarts the API server itself, so calls may fail meanwhile. */
function isOutage(error: unknown): boolean {
  return (
    error instanceof Error && 'status' in error && (error.status === 0 || error.status === 503 || error.status === 500)
  )
}
