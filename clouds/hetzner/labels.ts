import type { Marks } from '../ports/cloud.ts'
import { CloudError } from '../ports/cloud.ts'
import { type Fields, textOf } from '../http/loose-json.ts'

/** Programs and people label the same floating IPs. */
const prefix = 'eip-admission.dev/'

/** A value that the vendor accepts, and that does not look like a coded one. Its rules are the rules of Kubernetes' labels. */
const plain = /^(?!x-)([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?$/
const coded = /^x-([A-Za-z0-9_-]*)x$/
const maxLength = 63

/** The labels of these marks; a mark without a value has none. Throws a CloudError if one is too long for a label. */
export function labelsOf(marks: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(marks).map(([mark, value]) => [prefix + mark, value && labelValue(value)]))
}

/** The marks among the labels of a floating IP. */
export function marksOf(labels: Fields): Marks {
  const ours = Object.entries(labels).filter(([name]) => name.startsWith(prefix))
  return Object.fromEntries(ours.map(([name, value]) => [name.slice(prefix.length), markValue(textOf(value) ?? '')]))
}

/** A label cannot hold the characters of base64, in which a mark names its Service. */
function labelValue(value: string): string {
  const label = plain.test(value) ? value : `x-${Buffer.from(value).toString('base64url')}x`
  if (label.length <= maxLength) return label
  const message = `Hetzner Cloud: "${value}" does not fit into a label of ${maxLength} characters`
  throw new CloudError(message, { fault: 'invalid', outcome: 'nothing' })
}

function markValue(label: string): string {
  const [, code] = coded.exec(label) ?? []
  return code === undefined ? label : Buffer.from(code, 'base64url').toString()
}
