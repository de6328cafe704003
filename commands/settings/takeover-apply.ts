import { doctorSettings, installSettings } from './commands.ts'
import { duration } from '../../settings/formats.ts'
import { ownNamespace } from '../../settings/process.ts'
import type { SettingsTable, ValuesOf } from '../../settings/setting.ts'

const work = {
  patienceMs: {
    flag: '--patience',
    format: duration(1000),
    default: '10m',
    sentence:
      'How long a step may go without progress before the command gives up. You can repeat the command at any time.',
  },
  output: doctorSettings.output,
} as const satisfies SettingsTable

/** The settings of `takeover apply`, besides the settings of `serve`. */
export const takeoverApplySettings = {
  webhookUrl: { ...installSettings.webhookUrl, sentence: `${installSettings.webhookUrl.sentence} As for \`install\`.` },
  ...work,
} as const satisfies SettingsTable

/** The settings of `takeover undo`. */
export const takeoverUndoSettings = {
  kubeconfig: installSettings.kubeconfig,
  namespace: ownNamespace,
  ...work,
} as const satisfies SettingsTable

/** Flags of `serve` take precedence over what the predecessor's settings say. */
export type TakeoverApplySettings = ValuesOf<typeof takeoverApplySettings> & { flags: Record<string, string> }
export type TakeoverUndoSettings = ValuesOf<typeof takeoverUndoSettings>
