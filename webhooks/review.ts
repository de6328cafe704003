import type { KubeObject } from '../kube/objects.ts'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** The fields that we read of an AdmissionReview's request (admission.k8s.io/v1). */
export type AdmissionRequest<T extends KubeObject = KubeObject> = {
  uid: string
  operation: AdmissionOperation
  namespace?: string
  name?: string
  subResource?: string
  dryRun?: boolean
  userInfo?: { username?: string }
  options?: { fieldManager?: string } | null
  object: T | null
  oldObject: T | null
}

export type AdmissionReview = {
  apiVersion: 'admission.k8s.io/v1'
  kind: 'AdmissionReview'
  request: AdmissionRequest
}

/** The namespace becomes part of API server paths, which allow nothing else. */
const namespace = { type: 'string', maxLength: 63, pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$' }

const metadata = { type: 'object', properties: { namespace } }
const object = { type: ['object', 'null'], properties: { metadata }, required: ['metadata'] }

/** The JSON schema of the envelope. The API server has validated the objects inside it. */
export const reviewSchema = {
  type: 'object',
  required: ['apiVersion', 'kind', 'request'],
  properties: {
    apiVersion: { const: 'admission.k8s.io/v1' },
    kind: { const: 'AdmissionReview' },
    request: {
      type: 'object',
      required: ['uid', 'operation', 'object'],
      properties: {
        uid: { type: 'string', minLength: 1, maxLength: 128 },
        operation: { enum: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] },
        namespace,
        name: { type: 'string' },
        subResource: { type: 'string' },
        dryRun: { type: 'boolean' },
        options: { type: ['object', 'null'], properties: { fieldManager: { type: 'string' } } },
        userInfo: { type: 'object', properties: { username: { type: 'string' } } },
        object,
        oldObject: object,
      },
    },
  },
} as const

/** Reviews of Services nest about a dozen levels, mostly in managedFields. */
const deepest = 100

/** The limit for objects and lists. A Service of 3 MiB, the largest that the API server accepts, could have that many ports. */
const mostParts = 200_000

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [34, 92, 123, 125, 91, 93]

/**
 * How a text exceeds any review, found before it is parsed; undefined if it does not, whether it is JSON or not. A few
 * megabytes of nothing but brackets would take seconds and hundreds of megabytes to parse.
 */
export function findExcess(text: string): string | undefined {
  let depth = 0
  let parts = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (code === openBrace || code === openBracket) {
      depth += 1
      parts += 1
      if (depth > deepest) return `nests more than ${deepest} levels`
      if (parts > mostParts) return `has more than ${mostParts} objects and lists`
    } else if (code === closeBrace || code === closeBracket) depth -= 1
  }
  return undefined
}

/** The place of the quote that ends a string; the end of a text that lacks it. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes += 1
    if (escapes % 2 === 0) return end
  }
  return text.length
}
