import { stringify } from 'yaml'
import type { ElasticIP } from '../ledger/record/elastic-ip.ts'
import { escapeMisleading } from '../lib/log-text.ts'

export const outputFormats = ['json', 'yaml', 'name'] as const

export type OutputFormat = (typeof outputFormats)[number]

/** The result of a command, for a script; as `name`, the ElasticIPs that it is about. */
export function formatData(data: object, format: OutputFormat, records: readonly ElasticIP[]): string {
  if (format === 'name') return records.map(({ metadata }) => `elasticip.eip-admission.dev/${metadata.name}\n`).join('')
  const text = format === 'json' ? `${JSON.stringify(data, null, 2)}\n` : stringify(data, { lineWidth: 0 })
  return escapeMisleading(text)
}
