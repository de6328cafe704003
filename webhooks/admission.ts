import { timingSafeEqual } from 'node:crypto'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../kube/log.ts'
import { withTimeLimit } from '../lib/time-limit.ts'
import { deadlineMs } from './deadline.ts'
import type { Decision } from './decision.ts'
import { type AdmissionReview, reviewSchema } from './review.ts'
import type { Webhook } from './webhook.ts'

export type AdmissionOptions = {
  webhooks: Webhook[]
  /** First segment of every path; who does not know it is turned away before the body is read. */
  pathSecret: string
  log: Log
  /** Told of every decision, for metrics; `error` when there was none. */
  observe?: (webhook: string, verdict: Decision['verdict'] | 'error', ms: number) => void
}

type Call = { Body: AdmissionReview; Querystring: { timeout?: string }; Params: { secret: string } }

/** Whether a text is the secret, in a time that says nothing about where the two differ. */
function isThe(secret: string): (given: string) => boolean {
  const wanted = Buffer.from(secret)
  return (text) => {
    const given = Buffer.from(text)
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  }
}

/** A fastify plugin that answers AdmissionReviews, one route a webhook; nobody else sees base64, uids or HTTP codes. */
export const admission: FastifyPluginCallback<AdmissionOptions> = (app, options, done) => {
  const isSecret = isThe(options.pathSecret)
  app.addHook<Call>('onRequest', ({ params }, reply, next) => {
    if (isSecret(params.secret)) next()
    else reply.code(404).send({ error: 'not found' })
  })
  for (const webhook of options.webhooks) {
    app.post<Call>(`/:secret${webhook.path}`, { schema: { body: reviewSchema } }, (request, reply) =>
      answer(webhook, options, { request, reply }),
    )
  }
  done()
}

async function answer(
  webhook: Webhook,
  { log, observe }: AdmissionOptions,
  { request: call, reply }: { request: FastifyRequest<Call>; reply: FastifyReply },
): Promise<object> {
  const { request } = call.body
  const started = performance.now()
  const facts = { webhook: webhook.name, namespace: request.namespace, name: request.name, uid: request.uid }
  try {
    const ms = deadlineMs(call.query.timeout)
    const timeoutError = () => new Error(`no decision within ${ms} ms`)
    const decision = await withTimeLimit({ ms, timeoutError }, (signal) => webhook.decide(request, signal))
    observe?.(webhook.name, decision.verdict, performance.now() - started)
    if (decision.verdict === 'deny') log.info({ ...facts, reason: decision.reason }, 'denied')
    return review(request.uid, decision)
  } catch (error) {
    observe?.(webhook.name, 'error', performance.now() - started)
    log.error({ ...facts, error }, 'no decision')
    return reply.code(500).send({ error: 'no decision; the reason is in the log of eip-admission' })
  }
}

function review(uid: string, decision: Decision): object {
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, ...response(decision) } }
}

function response(decision: Decision): object {
  switch (decision.verdict) {
    case 'allow':
      return { allowed: true, warnings: decision.warnings }
    case 'patch': {
      const patch = Buffer.from(JSON.stringify(decision.patch)).toString('base64')
      return { allowed: true, patchType: 'JSONPatch', patch, warnings: decision.warnings }
    }
    case 'deny': {
      const [code, reason] = decision.because === 'mistake' ? [400, 'BadRequest'] : [403, 'Forbidden']
      return { allowed: false, status: { code, reason, message: decision.reason } }
    }
  }
}
