import { readAuthorities } from '../certs/authorities-file.ts'
import { list, text } from './formats.ts'
import type { Problem } from './problems.ts'
import { readSettings, type Sources } from './resolve.ts'
import { type SettingsTable, titleOf } from './setting.ts'

/** The clients that may call the webhooks, in addition to knowing the secret path. */
export const webhookClient = {
  webhookClientCaFile: {
    title: 'webhook client CA file',
    flag: '--webhook-client-ca-file',
    env: 'EIP_WEBHOOK_CLIENT_CA_FILE',
    format: text('file'),
    unset: 'no client certificate required',
    sentence:
      'PEM file of CA certificates. A caller of a webhook must present a client certificate that one of these CAs signed.',
  },
  webhookClientNames: {
    title: 'webhook client names',
    flag: '--webhook-client-allowed-names',
    env: 'EIP_WEBHOOK_CLIENT_ALLOWED_NAMES',
    format: list(text('name')),
    default: '',
    sentence: 'Common names that the client certificate of a caller may have. An empty list accepts every name.',
  },
} as const satisfies SettingsTable

/** Problems of the CA file, or of names that no certificate would be compared with. */
export function webhookClientProblems(sources: Pick<Sources, 'flags' | 'env'>): Problem[] {
  const { values } = readSettings(webhookClient, sources)
  if (!values) return []
  const { webhookClientCaFile: path, webhookClientNames: names } = values
  if (path === undefined) return names.length > 0 ? [withoutFile] : []
  const { wrong } = readAuthorities(path)
  if (wrong === undefined) return []
  const right = 'it must be a readable PEM file with CA certificates, up to their roots'
  return [{ setting: titleOf(webhookClient.webhookClientCaFile), source: path, wrong, right }]
}

const withoutFile: Problem = {
  setting: titleOf(webhookClient.webhookClientNames),
  wrong: 'has no effect, because no client certificate is required',
  right: `set ${webhookClient.webhookClientCaFile.flag} too`,
}
