import type { DialectName } from '../../sandbox/dialects.ts'
import { type Arena, openArena } from './arena.ts'
import { type Tally, ensureNamespaces, isRefusal, isUsual, nextAction } from './actions.ts'
import { atRest } from './invariants.ts'
import { type Random, random } from './random.ts'

export type WalkOptions = {
  dialect: DialectName
  seed: number
  steps: number
  /** Steps between two rests. */
  leg?: number
  tell?: (text: string) => void
}

/** How long the world may take to come to rest: leases, questions and grace periods of dead processes run out in it. */
const restMs = 60_000

/** Walks at random through everything that can happen, and checks at every rest that nothing was lost or doubled. */
export async function walk({ dialect, seed, steps, leg = 50, tell = () => undefined }: WalkOptions): Promise<Tally> {
  const arena = await openArena(dialect)
  const dice = random(seed)
  const tally: Tally = { steps: 0, faults: 0, kills: 0, refusals: 0, violations: [] }
  try {
    while (tally.steps < steps && tally.violations.length === 0) {
      await goOn(arena, dice, { tally, until: Math.min(steps, tally.steps + leg) })
      const wrong = await atRest(arena, restMs)
      tally.violations.push(...wrong.map((text) => `after step ${tally.steps}: ${text}`))
      tell(`${tally.steps} steps, ${tally.faults} faults, ${tally.kills} kills, ${tally.violations.length} violations`)
    }
    if (tally.violations.length > 0) tell(`the logs are in ${arena.logs}`)
    return tally
  } finally {
    await arena.close(tally.violations.length === 0)
  }
}

async function goOn(arena: Arena, dice: Random, { tally, until }: { tally: Tally; until: number }): Promise<void> {
  const under: Promise<void>[] = []
  for (; tally.steps < until; tally.steps += 1) {
    const { name, run, isAlone } = nextAction(dice)
    const step = attempt(name, tally, async () => {
      if (name === 'create') await ensureNamespaces(arena)
      await run(arena, dice, tally)
    })
    // Some steps overlap the next ones, as those of several people do.
    if (isAlone || dice.happens(0.6)) await step
    else under.push(step)
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

/** We stopped the API server ourselves: calls that met it are nobody's fault. */
function isOutage(error: unknown): boolean {
  return (
    error instanceof Error && 'status' in error && (error.status === 0 || error.status === 503 || error.status === 500)
  )
}
