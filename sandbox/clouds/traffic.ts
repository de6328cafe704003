import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Call, CallLog } from './call-log.ts'
import { type ActiveFault, type Faults, describeFault } from './faults.ts'
import type { Latency } from './latency.ts'

/** What a vendor's API says about itself around any answer. */
export type Wording = {
  basePath: string
  /** The label of the token that a request carries; never the token. */
  caller: (request: FastifyRequest) => string
  /** Headers of every answer that comes from the API itself. */
  headers(request: FastifyRequest, status: number, payload: string): Record<string, string>
  /** The error body for a status. */
  errorBody(status: number, message: string | undefined): unknown
}

type Turn = { fault: ActiveFault | undefined; call: Call; startedMs: number }

export type Traffic = {
  /** The fault of a call, for the code that makes lists: what becomes of a list depends on how the vendor pages it. */
  faultOf: (request: FastifyRequest) => ActiveFault | undefined
}

const edgeTitles: Record<number, string> = { 502: 'Bad Gateway', 503: 'Service Unavailable', 504: 'Gateway Time-out' }
const never = new Promise<never>(() => {})

/** Logs, delays and spoils the calls of every route that `app` gets; `closing` ends what still waits. */
export function directTraffic(
  app: FastifyInstance,
  door: { faults: Faults; latency: Latency; calls: CallLog },
  { wording, closing }: { wording: Wording; closing: AbortSignal },
): Traffic {
  const turns = new WeakMap<FastifyRequest, Turn>()

  app.addHook('onRequest', async (request, reply) => {
    const path = pathOf(request).slice(wording.basePath.length)
    const fault = door.faults.strike(request.method, path)
    const turn = { fault, call: door.calls.begin(logEntry(request, wording)), startedMs: performance.now() }
    if (fault) turn.call.fault = describeFault(fault)
    turns.set(request, turn)
    await sleepMs(door.latency.msFor(request.method, path), closing)
    if (!fault || fault.done) return undefined
    const body = await spoil(fault, { request, reply, wording, closing })
    return body === undefined ? undefined : reply.send(body)
  })

  app.addHook('onSend', async (request, reply, payload) => {
    const fault = turns.get(request)?.fault
    const spoilt = fault?.done ? await spoil(fault, { request, reply, wording, closing }) : undefined
    const body = spoilt ?? payload
    const text = typeof body === 'string' ? body : ''
    if (!isEdgeAnswer(reply)) reply.headers(wording.headers(request, reply.statusCode, text))
    return body
  })

  app.addHook('onResponse', async (request, reply) => {
    const turn = turns.get(request)
    if (turn) Object.assign(turn.call, { status: reply.statusCode, ms: Math.round(performance.now() - turn.startedMs) })
  })

  return { faultOf: (request) => turns.get(request)?.fault }
}

/** The path that was called, without its query. */
export function pathOf(request: FastifyRequest): string {
  return request.url.split('?')[0] ?? ''
}

function logEntry(request: FastifyRequest, { basePath, caller }: Wording): Call {
  const [path = '', query = ''] = request.url.split('?')
  const documented = request.routeOptions.url?.slice(basePath.length).replace(/:(\w+)/g, '{$1}') ?? '(no such path)'
  const route = `${request.method} ${documented}`
  return { at: new Date().toISOString(), method: request.method, path, query, route, caller: caller(request) }
}

type Victim = { request: FastifyRequest; reply: FastifyReply; wording: Wording; closing: AbortSignal }

/** Carries a fault out: never resolves where no answer follows, resolves with the body that replaces the answer, if any. */
async function spoil(fault: ActiveFault, { request, reply, wording, closing }: Victim): Promise<string | undefined> {
  if (fault.answer === 'hang') return never
  if (fault.answer === 'reset') {
    request.raw.socket.resetAndDestroy()
    return never
  }
  if (fault.answer === 'slow') await sleepMs(fault.ms ?? 0, closing)
  if (fault.answer === 'web-page') return webPage(reply.code(200), 'Welcome')
  if (fault.answer === 'redirect')
    return webPage(reply.code(301).header('location', fault.location ?? plainUrl(request)), '301 Moved Permanently')
  if (typeof fault.answer !== 'number') return undefined
  reply.code(fault.answer).removeHeader('content-length')
  if (fault.retryAfterSeconds !== undefined) reply.header('retry-after', String(fault.retryAfterSeconds))
  const title = edgeTitles[fault.answer]
  if (title) return webPage(reply, `${fault.answer} ${title}`)
  reply.type('application/json; charset=utf-8')
  return JSON.stringify(wording.errorBody(fault.answer, fault.message))
}

function plainUrl({ host, url }: FastifyRequest): string {
  return `http://${host}${url}`
}

function isEdgeAnswer(reply: FastifyReply): boolean {
  return reply.getHeader('content-type') === 'text/html'
}

function webPage(reply: FastifyReply, heading: string): string {
  reply.type('text/html').removeHeader('content-length')
  return `<html>\r\n<head><title>${heading}</title></head>\r\n<body>\r\n<center><h1>${heading}</h1></center>\r\n</body>\r\n</html>\r\n`
}

/** A call that still waits when the cloud closes is never answered. */
async function sleepMs(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => never)
}
