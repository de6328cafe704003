import { readAuthorities } from '../authorities-file.ts'
import { list, text } from './formats.ts'
import type { Problem } from './problems.ts'
import { readSettings } from './resolve.ts'
import type { Sources } from './resolve.ts'
import type { SettingsTable } from './setting.ts'

/** Who may call the webhooks, beside knowing their path. */
export const webhookClient = {
  webhookClientCaFile: {
    title: 'webhook client CA file',
    flag: '--webhook-client-ca-file',
    env: 'EIP_WEBHOOK_CLIENT_CA_FILE',
    format: text('file'),
    unset: 'no client certificate is asked for',
    sentence: 'PEM file of authorities: who calls a webhook must show a client certificate that one of them signed.',
  },
  webhookClientNames: {
    title: 'webhook client names',
    flag: '--webhook-client-allowed-names',
    env: 'EIP_WEBHOOK_CLIENT_ALLOWED_NAMES',
    format: list(text('name')),
    default: '',
    sentence: 'Common names that such a certificate may carry; without any, every name will do.',
  },
} as const satisfies SettingsTable

/** What is wrong with the file, or with names that nobody would ask for. */
export function webhookClientProblems(sources: Pick<Sources, 'flags' | 'env'>): Problem[] {
  const { values } = readSettings(webhookClient, sources)
  if (!values) return []
  const { webhookClientCaFile: path, webhookClientNames: names } = values
  if (path === undefined) return names.length > 0 ? [withoutFile] : []
  const { wrong } = readAuthorities(path)
  if (wrong === undefined) return []
  const right = 'it must be a readable PEM file with the certificates of authorities, up to their roots'
  return [{ setting: webhookClient.webhookClientCaFile.title, source: path, wrong, right }]
}

const withoutFile: Problem = {
  setting: webhookClient.webhookClientNames.title,
  wrong: 'no client certificate is asked for, so there is no name to compare',
  right: `set ${webhookClient.webhookClientCaFile.flag} too`,
}
