// A clock that a test sets: hours of alerts pass in seconds, and the timers of the process go on as they are.
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type SetClock = {
  /** What a process needs in its environment to have this clock. */
  env: { NODE_OPTIONS: string }
  /** Sets the time of the process; without an argument it is the time of the machine again. */
  set(ms?: number): void
}

/** A clock whose file is in a folder. */
export function setClock(dir: string): SetClock {
  const file = join(dir, 'clock-shift')
  const program = `
    const { readFileSync } = process.getBuiltinModule('node:fs')
    const shiftMs = () => Number(readFileSync(${JSON.stringify(file)}, 'utf8'))
    const Real = Date
    globalThis.Date = class extends Real {
      constructor(...of) { if (of.length > 0) super(...of); else super(Real.now() + shiftMs()) }
      static now() { return Real.now() + shiftMs() }
    }`
  const set = (ms?: number) => {
    // Renamed, so that nobody reads half of it.
    writeFileSync(`${file}.next`, String(ms === undefined ? 0 : ms - Date.now()))
    renameSync(`${file}.next`, file)
  }
  set()
  return { env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` }, set }
}
