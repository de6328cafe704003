import type { Annotation } from '../../lib/annotation.ts'
import { common } from '../../settings/common.ts'
import { readSettings } from '../../settings/resolve.ts'
import type { Sources } from '../../settings/resolve.ts'
import type { SettingsTable } from '../../settings/setting.ts'
import type { CloudProvider } from '../ports/cloud-provider.ts'

type DialectNames = Pick<CloudProvider, 'marks' | 'announcerMarks'> & { controlPlaneService: string }

/** Makes a dialect of its settings. They are added to the common settings and may replace some of them. */
export function defineDialect<const Name extends string, const Rows extends SettingsTable>(dialect: {
  name: Name
  title: string
  /** The values of --cloud-provider that select it. */
  providers: readonly string[]
  /** The Secret whose key cloud-sa.json is the configuration file. */
  secret: string
  /** The names by which the dialect and its predecessors recognize what they wrote. */
  names: DialectNames
  rows: Rows
  /** Annotations whose names no setting can change. */
  annotations: readonly Annotation[]
  /** An annotation of a Service with this prefix that we do not know is a mistake of the user. */
  annotationPrefix?: string
}) {
  const table: Omit<typeof common, keyof Rows> & Rows = { ...common, ...dialect.rows }
  return {
    ...dialect,
    table,
    /** Reads the settings of this dialect and adds its name. */
    read: (sources: Sources) => {
      const { values, ...rest } = readSettings(table, sources)
      return { ...rest, values: values && { dialect: dialect.name, settings: values } }
    },
  }
}

/** The typed settings of a dialect. */
export type SettingsOf<Defined extends { read: (sources: Sources) => { values?: unknown } }> =
  NonNullable<ReturnType<Defined['read']>['values']> extends { settings: infer Settings } ? Settings : never
