import { statSync } from 'node:fs'
import { formatDuration } from '../lib/duration.ts'
import { duration, text } from './formats.ts'
import type { Problem } from './problems.ts'
import { readSettings, type Sources } from './resolve.ts'
import { type SettingsTable, titleOf } from './setting.ts'

/** The source of the serving certificate, and how long it is valid if we issue it ourselves. */
export const certificates = {
  certDir: {
    title: 'certificate folder',
    flag: '--webhook-cert-dir',
    env: 'EIP_WEBHOOK_CERT_DIR',
    format: text('folder'),
    unset: 'the process issues its own certificates',
    sentence:
      'Folder with tls.crt and tls.key that another program renews, such as a mounted Secret of cert-manager. ' +
      'Changed files are read within seconds. That program must also write caBundle into the webhook configurations.',
  },
  caLifetimeMs: {
    title: 'CA lifetime',
    flag: '--webhook-ca-lifetime',
    env: 'EIP_WEBHOOK_CA_LIFETIME',
    format: duration(60_000),
    default: '8760h',
    sentence: 'How long the CA of the webhooks is valid. The next one is created when a third of that time is left.',
  },
  certLifetimeMs: {
    title: 'serving certificate lifetime',
    flag: '--webhook-cert-lifetime',
    env: 'EIP_WEBHOOK_CERT_LIFETIME',
    format: duration(20_000),
    default: '168h',
    sentence: 'How long a serving certificate is valid. The next one is issued when a third of that time is left.',
  },
} as const satisfies SettingsTable

/**
 * Problems of the folder, and of the two lifetimes together: an authority must outlive its certificates until clients
 * trust the next authority.
 */
export function certificatesProblems(sources: Pick<Sources, 'flags' | 'env'>): Problem[] {
  const { values } = readSettings(certificates, sources)
  if (values?.certDir !== undefined) return folderProblems(values.certDir)
  if (!values || values.caLifetimeMs >= 3 * values.certLifetimeMs) return []
  const [ca, cert] = [values.caLifetimeMs, values.certLifetimeMs].map(formatDuration)
  return [
    {
      setting: titleOf(certificates.caLifetimeMs),
      wrong: `${ca} is less than three times the serving certificate lifetime of ${cert}`,
      right: '--webhook-ca-lifetime must be at least three times --webhook-cert-lifetime',
    },
  ]
}

/** Files may arrive later, but a mounted folder exists from the start, so its absence is a mistake. */
function folderProblems(folder: string): Problem[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  const right = 'it must be a folder; its files tls.crt and tls.key may come later'
  return [{ setting: titleOf(certificates.certDir), source: folder, wrong: 'is no folder', right }]
}
