import { equinixMetal } from '../../../clouds/equinix-metal/settings.ts'
import type { SettingsOf } from '../../../clouds/dialect/define-dialect.ts'

/** The settings of Equinix Metal that a configuration file with these fields gives. */
export function settingsOf(fields: Record<string, string>): {
  dialect: 'equinix-metal'
  settings: SettingsOf<typeof equinixMetal>
} {
  const { values } = equinixMetal.read({ flags: {}, env: {}, file: { path: 'cloud-sa.json', fields, problems: [] } })
  if (!values) throw new Error('the fields are wrong')
  return values
}
