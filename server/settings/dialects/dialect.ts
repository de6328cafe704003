import { common } from '../common.ts'
import { readSettings } from '../resolve.ts'
import type { Sources } from '../resolve.ts'
import type { SettingsTable } from '../setting.ts'

/** Makes a dialect of its own rows: they join, and may replace, the ones that all dialects share. */
export function defineDialect<const Name extends string, const Rows extends SettingsTable>(dialect: {
  name: Name
  title: string
  /** The values of --cloud-provider that select it. */
  providers: readonly string[]
  /** The Secret whose key cloud-sa.json is the configuration file. */
  secret: string
  rows: Rows
}) {
  const table: Omit<typeof common, keyof Rows> & Rows = { ...common, ...dialect.rows }
  return {
    ...dialect,
    table,
    /** Reads this dialect's settings, and says which dialect they are of. */
    read: (sources: Sources) => {
      const { values, ...rest } = readSettings(table, sources)
      return { ...rest, values: values && { dialect: dialect.name, settings: values } }
    },
  }
}
