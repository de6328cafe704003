import type { KubeObject } from './objects.ts'

type Line = (fields: object, message: string) => void

/** The logger that all rooms use; pino's matches. A line is a constant message, with its facts as fields. */
export type Log = { debug: Line; info: Line; warn: Line; error: Line }

/**
 * The kinds that are logged in full: only their annotations may be secret. Others may show secrets or the webhooks'
 * path.
 */
const kinds = new Set(['Service', 'Node', 'ElasticIP', 'IPAddressPool', 'BGPAdvertisement', 'Lease'])

/** Names of annotations whose values may be secret; the last one repeats all others. */
const secretNames = /pass|secret|token|credential|key|last-applied-configuration/i

/** Users decide how large their objects are. */
const maxCharacters = 8_192

/** An object as a single text for the log, without secrets, and truncated if long; undefined if it must not be logged. */
export function objectText(answer: unknown): string | undefined {
  const object = (answer ?? {}) as Partial<KubeObject>
  if (!object.metadata || !kinds.has(object.kind ?? '')) return undefined
  const { managedFields: _whoWrote, annotations, ...metadata } = object.metadata
  // Software on a node may store anything there, and operators choose the name of the BGP password's annotation.
  const isSecret = (name: string) => object.kind === 'Node' || secretNames.test(name)
  const shown = Object.entries(annotations ?? {}).map(([name, value]) => [name, isSecret(name) ? '[redacted]' : value])
  const text = JSON.stringify({
    ...object,
    metadata: { ...metadata, ...(annotations && { annotations: Object.fromEntries(shown) as object }) },
  })
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}… (${text.length} characters)` : text
}
