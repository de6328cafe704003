import { installSettings } from './commands.ts'
import { choice, duration } from './formats.ts'
import { leaderElection } from './leader-election.ts'
import { ownNamespace } from './process.ts'
import type { SettingsTable, ValuesOf } from './setting.ts'

/** The settings of `takeover undo`. */
export const undoSettings = {
  kubeconfig: installSettings.kubeconfig,
  namespace: ownNamespace,
  leaseNamespace: leaderElection.leaseNamespace,
  leaseName: leaderElection.leaseName,
  patienceMs: {
    title: 'patience',
    flag: '--patience',
    format: duration(1000),
    default: '10m',
    sentence: 'How long a step may make no progress before the command gives up. It may be repeated at any time.',
  },
  output: {
    title: 'output',
    flag: '--output',
    short: '-o',
    format: choice(['text', 'json']),
    default: 'text',
    sentence: 'Format of the report.',
  },
} as const satisfies SettingsTable

/** The settings of `takeover apply`, besides those of its plan. */
export const applySettings = {
  ...undoSettings,
  webhookUrl: installSettings.webhookUrl,
} as const satisfies SettingsTable

export type UndoSettings = ValuesOf<typeof undoSettings>
export type ApplySettings = ValuesOf<typeof applySettings>
