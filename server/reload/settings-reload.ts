import { CloudError } from '../../clouds/ports/cloud.ts'
import { type Clock, systemClock } from '../../kube/clock.ts'
import { repeatLater } from '../../lib/repeat.ts'
import { locate } from '../../ledger/want/location.ts'
import type { CloudProvider } from '../../clouds/ports/cloud-provider.ts'
import type { CloudSettings } from '../../clouds/dialect/define-dialect.ts'
import { SettingsError, formatProblem } from '../../settings/problems.ts'
import type { CloudFile } from '../../commands/settings/serve.ts'
import { type SettingsTable, titleOf } from '../../settings/setting.ts'
import type { ReplaceableSecret } from '../../lib/secret.ts'
import { type SettingChanges, changesBetween, withValuesOf } from './setting-changes.ts'
import type { LocationSource } from '../../settings/service-policy.ts'
import type { Log } from '../../kube/log.ts'
import type { KubeObject } from '../../kube/objects.ts'
import type { Recorder } from '../../telemetry/event-recorders.ts'
import type { EventReason } from '../../telemetry/events/catalogue.ts'

/** The calls that a trial of settings makes: it reads the project and the locations. */
export type Candidate = {
  cloud: Pick<CloudProvider['cloud'], 'reservations' | 'locations'>
  policy: { locationSources: LocationSource[] }
}

export type SettingsReloadOptions = Omit<ReportOptions, 'path'> & {
  file: CloudFile
  table: SettingsTable
  /** The settings that the process started with. */
  started: CloudSettings
  /** The settings that other parts of the process read: the token, and the sources of locations. */
  apiKey: ReplaceableSecret
  policy: { locationSources: LocationSource[] }
  /** Makes a separate client to try settings. */
  candidate: (settings: CloudSettings) => Promise<Candidate>
  clock?: Clock
}

export type SettingsReload = {
  /** Why this process does not follow the file; undefined if it does. */
  problem(): string | undefined
  /** Whether the last version of the file was applied. */
  isTakenUp(): boolean
  /** The titles of the settings that take effect only after a restart. */
  needRestart(): readonly string[]
  /** Calls the listener each time a file was applied. */
  onChange(listener: () => void): void
  /** Follows the file until the signal aborts. */
  start(signal: AbortSignal): void
}

/** Files mounted from a Secret send no notification when they change. */
const checkMs = 5_000

/** A new token may start to work a moment later, and a provider recovers from an outage. */
const retryMs = 30_000

/**
 * Applies a new token or location from the configuration file once the provider accepts it. Until then, or if the file
 * is wrong, everything stays as it was.
 */
export function settingsReload(options: SettingsReloadOptions): SettingsReload {
  return new FileReload(options)
}

class FileReload implements SettingsReload {
  readonly #options: Required<SettingsReloadOptions>
  readonly #report: ReturnType<typeof reloadReport>
  #running: CloudSettings
  #refused: string | undefined
  #needRestart: readonly string[] = []
  readonly #listeners: (() => void)[] = []
  /** The settings that were refused last, and when. */
  #tried: { settings: CloudSettings; atMs: number } | undefined

  constructor(options: SettingsReloadOptions) {
    this.#options = { clock: systemClock, ...options }
    this.#report = reloadReport({ ...this.#options, path: options.file.path })
    this.#running = options.started
  }

  problem(): string | undefined {
    const { path } = this.#options.file
    const needs = `settings that need a restart: ${this.#needRestart.join(', ')}`
    const hasNeeds = this.#needRestart.length > 0
    // A file for another project is refused because of its token, although the token itself is right.
    if (this.#refused !== undefined)
      return `${path} was not applied: ${this.#refused}${hasNeeds ? `; it has ${needs}` : ''}`
    return hasNeeds ? `${path} has ${needs}` : undefined
  }

  isTakenUp(): boolean {
    return this.#refused === undefined
  }

  needRestart(): readonly string[] {
    return this.#needRestart
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  start(signal: AbortSignal): void {
    void repeatLater(() => this.#check(signal), { everyMs: checkMs, signal, clock: this.#options.clock })
  }

  async #check(signal: AbortSignal): Promise<void> {
    const found = this.#read()
    if (!found) return
    const changes = this.#changes(this.#running, found)
    this.#noteRestart(this.#titles(changes.restart))
    if (changes.reloaded.length === 0) return this.#accept()
    if (!this.#isDue(found)) return
    // The other settings take effect after a restart, including a token of another project.
    const next = withValuesOf(this.#running, found, changes.reloaded)
    const { wrong, candidate } = await this.#try(next, signal)
    if (signal.aborted) return
    if (candidate) return this.#takeUp(next, candidate, changes)
    this.#tried = { settings: found, atMs: this.#options.clock.now() }
    this.#refuse(wrong)
  }

  #read(): CloudSettings | undefined {
    try {
      return this.#options.file.read()
    } catch (error) {
      this.#refuse(reasonOf(error))
      return undefined
    }
  }

  #changes(running: CloudSettings, found: CloudSettings): SettingChanges {
    return changesBetween(this.#options.table, running, found)
  }

  #titles(names: readonly string[]): string[] {
    return names.map((name) => titleOf(this.#options.table[name] ?? { title: name }))
  }

  /** Refused settings are tried again after a while, changed ones at once. */
  #isDue(found: CloudSettings): boolean {
    if (!this.#tried || this.#options.clock.now() - this.#tried.atMs >= retryMs) return true
    return this.#changes(this.#tried.settings, found).reloaded.length > 0
  }

  /** Reads the project and the locations, which a token without rights in the project cannot. */
  async #try(
    settings: CloudSettings,
    signal: AbortSignal,
  ): Promise<{ candidate: Candidate; wrong?: never } | { candidate?: never; wrong: string }> {
    try {
      const candidate = await this.#options.candidate(settings)
      await candidate.cloud.reservations({}, signal)
      const wrong = locationProblem(candidate, await candidate.cloud.locations(signal))
      return wrong === undefined ? { candidate } : { wrong }
    } catch (error) {
      return { wrong: reasonOf(error) }
    }
  }

  #takeUp(next: CloudSettings, { policy }: Candidate, { reloaded }: SettingChanges): void {
    this.#options.apiKey.replace(next.settings.apiKey)
    this.#options.policy.locationSources = policy.locationSources
    this.#running = next
    this.#accept()
    this.#report.takenUp(this.#titles(reloaded))
    for (const listener of this.#listeners) listener()
  }

  /** The file no longer has refused settings. */
  #accept(): void {
    this.#refused = undefined
    this.#tried = undefined
    this.#report.over('SettingsRefused')
  }

  #refuse(wrong: string): void {
    this.#refused = wrong
    this.#report.refused(wrong)
  }

  #noteRestart(titles: readonly string[]): void {
    this.#needRestart = titles
    if (titles.length > 0) this.#report.needRestart(titles)
    else this.#report.over('SettingsNeedRestart')
  }
}

/** The problem of a cluster setting that names no location of the provider. Annotations belong to users and do not count. */
function locationProblem({ policy }: Candidate, known: Awaited<ReturnType<Candidate['cloud']['locations']>>) {
  const sources = policy.locationSources.filter((source) => source.kind === 'setting' && source.value !== undefined)
  if (sources.length === 0) return undefined
  const located = locate({}, sources, known)
  return 'problem' in located ? located.problem : undefined
}

/** Other errors are our own bugs, and their text might quote anything. */
function reasonOf(error: unknown): string {
  if (error instanceof SettingsError) return error.problems.map(formatProblem).join('; ')
  if (error instanceof CloudError) return error.message
  return `unexpected ${error instanceof Error ? error.name : 'error'}`
}

/** The destinations of reports about the configuration file at `path`; `about` is the object of its Events. */
type ReportOptions = { path: string; about: KubeObject; events: Pick<Recorder, 'record'>; log: Log }

/** Reports the fate of the configuration file: once in the log, and in Events while it lasts. */
function reloadReport({ path, about, events, log }: ReportOptions) {
  const told = new Map<EventReason, string>()
  const warn = (reason: EventReason, message: string, line: { fields: object; text: string }) => {
    events.record(about, { type: 'Warning', reason, message })
    if (told.get(reason) !== message) log.warn({ file: path, ...line.fields }, line.text)
    told.set(reason, message)
  }
  return {
    takenUp(settings: readonly string[]): void {
      log.info({ file: path, settings }, 'settings of the configuration file applied')
      const message = `Applied from ${path} without a restart: ${settings.join(', ')}`
      events.record(about, { type: 'Normal', reason: 'SettingsTakenUp', message })
    },
    refused: (wrong: string) =>
      warn(
        'SettingsRefused',
        `${path} was not applied, and the settings stay as they were. Correct it in the Secret that it is mounted from, or restore it there: ${wrong}`,
        { fields: { wrong }, text: 'the configuration file was not applied; the settings stay as they were' },
      ),
    needRestart: (settings: readonly string[]) =>
      warn(
        'SettingsNeedRestart',
        `${path} has settings that take effect after a restart. Restart the process, or restore them: ${settings.join(', ')}`,
        { fields: { settings }, text: 'settings of the configuration file need a restart' },
      ),
    /** Ends the reported state of a reason: if it recurs, it is new. */
    over: (reason: 'SettingsRefused' | 'SettingsNeedRestart') => void told.delete(reason),
  }
}
