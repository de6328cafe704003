import type { Clock } from '../../kube/clock.ts'
import type { Key } from '../../kube/objects.ts'

export type RepeatedSteps = ReturnType<typeof repeatedSteps>

/** More often than any object needs a step, even one that a script creates, changes and deletes. */
const [maxTimes, withinMs] = [12, 60_000]

/** How long after its last repetition a step becomes undisputed: several of the longest holds. */
const rememberedMs = 150_000

/** Detects that a key needs the same step again and again, because another program undoes it. */
export function repeatedSteps(clock: Pick<Clock, 'now'>) {
  /** When each step of a key was executed lately, the step that is longest ago first. */
  const recent = new Map<string, number[]>()
  const contested = new Map<Key, { step: string; untilMs: number }>()

  const forgetOld = (nowMs: number) => {
    for (const [id, times] of recent) {
      if ((times.at(-1) ?? 0) > nowMs - withinMs) return
      recent.delete(id)
    }
  }
  const isTooOften = (id: string, nowMs: number): boolean => {
    const times = [...(recent.get(id) ?? []).filter((ms) => ms > nowMs - withinMs), nowMs]
    recent.delete(id)
    recent.set(id, times)
    return times.length > maxTimes
  }
  /** Whether a step of the key was recently needed too often. */
  const isContested = (key: Key): boolean => {
    const entry = contested.get(key)
    if (entry && entry.untilMs <= clock.now()) contested.delete(key)
    return contested.has(key)
  }
  return {
    isContested,
    /** Notes the steps of a reconcile; returns the one that was needed too often. */
    after(key: Key, steps: readonly string[]) {
      const nowMs = clock.now()
      forgetOld(nowMs)
      const known = isContested(key) ? contested.get(key)?.step : undefined
      const repeated = steps.find((step) => step === known || isTooOften(`${key} ${step}`, nowMs))
      if (repeated !== undefined) contested.set(key, { step: repeated, untilMs: nowMs + rememberedMs })
      return repeated
    },
  }
}
