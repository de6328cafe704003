import type { CloudSettings } from '../../../clouds/dialect/define-dialect.ts'
import { equinixMetalDialect } from '../../../clouds/equinix-metal/provider.ts'

/** The settings of Equinix Metal that a configuration file with these fields gives. */
export function settingsOf(fields: Record<string, string>): CloudSettings {
  const file = { path: 'cloud-sa.json', fields, problems: [] }
  const { values } = equinixMetalDialect.read({ flags: {}, env: {}, file })
  if (!values) throw new Error('the fields are wrong')
  return values
}
