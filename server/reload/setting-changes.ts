import { isDeepStrictEqual } from 'node:util'
import { Secret } from '../../lib/secret.ts'
import type { CloudSettings } from '../../clouds/dialect/define-dialect.ts'
import type { SettingsTable } from '../../settings/setting.ts'

/** The settings whose values differ, by their names in the table. */
export type SettingChanges = {
  /** The process can reload these while it runs. */
  reloaded: string[]
  /** These take effect after a restart. */
  restart: string[]
}

/** The settings of a table whose values in `found` differ. */
export function changesBetween(table: SettingsTable, running: CloudSettings, found: CloudSettings): SettingChanges {
  const valueOf = (name: string, { settings }: CloudSettings) => (({ ...settings }) as Record<string, unknown>)[name]
  const changed = Object.keys(table).filter((name) => !isSame(valueOf(name, running), valueOf(name, found)))
  return {
    reloaded: changed.filter((name) => table[name]?.isReloaded),
    restart: changed.filter((name) => !table[name]?.isReloaded),
  }
}

/** The running settings, with these names taken from other settings of the same dialect. */
export function withValuesOf(running: CloudSettings, found: CloudSettings, names: readonly string[]): CloudSettings {
  const taken = Object.entries(found.settings).filter(([name]) => names.includes(name))
  return withValues(running, Object.fromEntries(taken))
}

/** Settings with some of their values replaced. */
export function withValues(cloud: CloudSettings, values: Readonly<Record<string, unknown>>): CloudSettings {
  return { ...cloud, settings: { ...cloud.settings, ...values } }
}

function isSame(one: unknown, other: unknown): boolean {
  if (one instanceof Secret && other instanceof Secret) return one.reveal() === other.reveal()
  return isDeepStrictEqual(one, other)
}
