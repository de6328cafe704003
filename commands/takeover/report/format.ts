import { escapeMisleading } from '../../../lib/log-text.ts'

/** How a command reports: to people or to programs. */
export type Format = 'text' | 'json'

/** A report for programs. */
export function asJson(value: object): string {
  return `${escapeMisleading(JSON.stringify(value, null, 2))}\n`
}
