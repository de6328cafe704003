import { timingSafeEqual } from 'node:crypto'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../kube/log.ts'
import { forRequest, shortRequestId } from '../lib/request-id.ts'
import { withTimeLimit } from '../lib/time-limit.ts'
import type { Decision, Webhook, AdmissionRequest, AdmissionReview } from './webhook.ts'
import { parseDuration } from '../lib/duration.ts'

export type AdmissionOptions = {
  webhooks: Webhook[]
  /** The first path segments that are accepted. A caller without one gets 404 before we read its body. */
  pathSecrets: () => readonly string[]
  /** Refreshes them for a caller with an unknown one. */
  readPathSecrets?: () => Promise<void>
  log: Log
  /** Called for every review, for the metrics; `error` if no decision was reached. */
  observe?: (webhook: string, verdict: Decision['verdict'] | 'error', ms: number) => void
}

type Call = { Body: AdmissionReview; Querystring: { timeout?: string }; Params: { secret: string } }

/** Compares a text with a secret in constant time, so that the duration does not reveal where they differ. */
function isSecret(text: string, secret: string): boolean {
  const [given, expected] = [Buffer.from(text), Buffer.from(secret)]
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** The fastify plugin of the webhooks, with a route for each. Base64, uids and HTTP codes stay in this file. */
export const admission: FastifyPluginCallback<AdmissionOptions> = (app, options, done) => {
  // Any other content type is refused before its body is read.
  app.removeAllContentTypeParsers()
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, parsed) => {
    const excess = findExcess(body)
    if (excess === undefined) return parse(request, body, parsed)
    parsed(Object.assign(new Error(`the body is not a review: it ${excess}`), { statusCode: 400 }), undefined)
  })
  const isKnown = (segment: string) => options.pathSecrets().some((secret) => isSecret(segment, secret))
  app.addHook<Call>('onRequest', async ({ params }, reply) => {
    if (isKnown(params.secret)) return
    await options.readPathSecrets?.()
    if (!isKnown(params.secret)) await reply.code(404).header('connection', 'close').send({ error: 'not found' })
  })
  for (const webhook of options.webhooks) {
    app.post<Call>(`/:secret${webhook.path}`, { schema: { body: reviewSchema } }, (request, reply) =>
      review(webhook, options, { request, reply }),
    )
  }
  done()
}

async function review(
  webhook: Webhook,
  { log, observe }: AdmissionOptions,
  { request: call, reply }: { request: FastifyRequest<Call>; reply: FastifyReply },
): Promise<object> {
  const { request } = call.body
  const started = performance.now()
  // Readers of the log take a field `name` for the name of the logger.
  const object = [request.namespace, request.name].filter(Boolean).join('/')
  const facts = { webhook: webhook.name, object, request: request.uid }
  try {
    const ms = deadlineMs(call.query.timeout)
    const timeoutError = () => new Error(`no decision within ${ms} ms`)
    const decision = await forRequest(request.uid, () =>
      withTimeLimit({ ms, timeoutError }, async (signal) => webhook.decide(request, signal)),
    )
    observe?.(webhook.name, decision.verdict, performance.now() - started)
    if (decision.verdict === 'deny') log.info({ ...facts, reason: decision.reason }, 'denied')
    else log.debug({ ...facts, verdict: decision.verdict }, 'reviewed')
    const response = { uid: request.uid, ...verdictOf(decision, request) }
    return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }
  } catch (error) {
    observe?.(webhook.name, 'error', performance.now() - started)
    log.error({ ...facts, error }, 'no decision')
    return reply.code(500).send({ error: 'no decision; the log of eip-admission has the reason' })
  }
}

/**
 * A person can search the log for the id of the request. Programs store a denial in a status, and a text that differs
 * each time would make them retry without a pause.
 */
function denialText(reason: string, { uid, userInfo }: AdmissionRequest): string {
  const isProgram = userInfo?.username?.startsWith('system:serviceaccount:') ?? true
  return isProgram ? reason : `${reason} (request ${shortRequestId(uid)})`
}

function verdictOf(decision: Decision, request: AdmissionRequest): object {
  switch (decision.verdict) {
    case 'allow':
      return { allowed: true, warnings: decision.warnings }
    case 'patch': {
      const patch = Buffer.from(JSON.stringify(decision.patch)).toString('base64')
      return { allowed: true, patchType: 'JSONPatch', patch, warnings: decision.warnings }
    }
    case 'deny': {
      const [code, reason] = decision.because === 'invalid' ? [400, 'BadRequest'] : [403, 'Forbidden']
      return { allowed: false, status: { code, reason, message: denialText(decision.reason, request) } }
    }
  }
}

const defaultMs = 10_000
const longestMs = 30_000

/**
 * The time limit of one review. The API server passes its `timeout` in the URL as a Go duration. We use nine tenths of
 * it, so that our answer arrives before the API server stops waiting.
 */
export function deadlineMs(timeout: string | undefined): number {
  const givenMs = parseDuration(timeout ?? '') ?? 0
  return Math.max(1, Math.round(Math.min(givenMs > 0 ? givenMs : defaultMs, longestMs) * 0.9))
}

/** The namespace becomes part of API server paths, which allow nothing else. */
const namespace = { type: 'string', maxLength: 63, pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$' }

const metadata = { type: 'object', properties: { namespace } }
const object = { type: ['object', 'null'], properties: { metadata }, required: ['metadata'] }

/** The JSON schema of the envelope. The API server has validated the objects inside it. */
const reviewSchema = {
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
