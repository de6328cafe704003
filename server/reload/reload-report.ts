import type { Clock } from '../../kube/clock.ts'
import type { Log } from '../../kube/log.ts'
import type { KubeObject } from '../../kube/objects.ts'
import type { Recorder } from '../../telemetry/event-recorders.ts'
import type { EventReason } from '../../telemetry/events/catalogue.ts'

export type ReloadReportOptions = {
  /** The path of the configuration file. */
  path: string
  /** The object of the Events. */
  about: KubeObject
  events: Pick<Recorder, 'record'>
  log: Log
  clock: Clock
}

/** How often an Event of what lasts is counted on: the API server forgets it after an hour. */
const reportAgainMs = 600_000

/** Says what becomes of the configuration file: in the log once, and in Events that count on while it lasts. */
export class ReloadReport {
  readonly #options: ReloadReportOptions
  /** The last report for each reason, and its time. */
  readonly #reported = new Map<EventReason, { message: string; atMs: number }>()

  constructor(options: ReloadReportOptions) {
    this.#options = options
  }

  takenUp(settings: readonly string[]): void {
    const { path, log, events, about } = this.#options
    log.info({ file: path, settings }, 'settings of the configuration file taken up')
    const message = `From ${path} taken up without a restart: ${settings.join(', ')}`
    events.record(about, { type: 'Normal', reason: 'SettingsTakenUp', message })
  }

  refused(wrong: string): void {
    const { path, log } = this.#options
    const isNew = this.#warn(
      'SettingsRefused',
      `${path} was not taken up, and the settings stay as they were. Correct it in the Secret that it is mounted from, or restore it there: ${wrong}`,
    )
    if (isNew)
      log.warn({ file: path, wrong }, 'the configuration file was not taken up; the settings stay as they were')
  }

  needRestart(settings: readonly string[]): void {
    const { path, log } = this.#options
    const isNew = this.#warn(
      'SettingsNeedRestart',
      `${path} has settings that count after a restart. Restart the process, or restore them: ${settings.join(', ')}`,
    )
    if (isNew) log.warn({ file: path, settings }, 'settings of the configuration file need a restart')
  }

  /** The reported state of a reason is over: if it comes back, it is new. */
  over(reason: 'SettingsRefused' | 'SettingsNeedRestart'): void {
    this.#reported.delete(reason)
  }

  /** Records a Warning at once if it is new, and again after a while. Returns whether it is new. */
  #warn(reason: EventReason, message: string): boolean {
    const { clock, events, about } = this.#options
    const reported = this.#reported.get(reason)
    const isNew = reported?.message !== message
    if (!isNew && clock.now() - reported.atMs < reportAgainMs) return false
    this.#reported.set(reason, { message, atMs: clock.now() })
    events.record(about, { type: 'Warning', reason, message })
    return isNew
  }
}
