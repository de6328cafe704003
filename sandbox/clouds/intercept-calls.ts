import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Call, CallLog } from './call-log.ts'
import { type ActiveFault, type Faults, describeFault } from './faults.ts'
import type { Latency } from './latency.ts'

/** What a vendor's API says about itself around any answer. */
export type VendorFormat = {
  basePath: string
  /** The label of the token that a request carries; never the token. */
  caller: (request: FastifyRequest) => string
  /** Headers of every answer that comes from the API itself. */
  headers(request: FastifyRequest, status: number, payload: string): Record<string, string>
  /** The error body for a status. */
  errorBody(status: number, message: string | undefined): unknown
}

type TrackedCall = { fault: ActiveFault | undefined; call: Call; startedMs: number }

export type InterceptedCalls = {
  /** The fault of a call, for the code that makes lists: what becomes of a list depends on how the vendor pages it. */
  faultOf: (request: FastifyRequest) => ActiveFault | undefined
}

const edgeTitles: Record<number, string> = { 502: 'Bad Gateway', 503: 'Service Unavailable', 504: 'Gateway Time-out' }
const never = new Promise<never>(() => {})

/** Logs, delays and spoils the calls of every route that `app` gets; `closing` ends what still waits. */
export function interceptCalls(
  app: FastifyInstance,
  door: { faults: Faults; latency: Latency; calls: CallLog },
  { format, closing }: { format: VendorFormat; closing: AbortSignal },
): InterceptedCalls {
  const trackedCalls = new WeakMap<FastifyRequest, TrackedCall>()

  app.addHook('onRequest', async (request, reply) => {
    const path = pathOf(request).slice(format.basePath.length)
    const fault = door.faults.strike(request.method, path)
    const tracked = { fault, call: door.calls.begin(logEntry(request, format)), startedMs: performance.now() }
    if (fault) tracked.call.fault = describeFault(fault)
    trackedCalls.set(request, tracked)
    await sleepMs(door.latency.msFor(request.method, path), closing)
    if (!fault || fault.done) return undefined
    const body = await applyFault(fault, { request, reply, format, closing })
    return body === undefined ? undefined : reply.send(body)
  })

  app.addHook('onSend', async (request, reply, payload) => {
    const fault = trackedCalls.get(request)?.fault
    const faultBody = fault?.done ? await applyFault(fault, { request, reply, format, closing }) : undefined
    const body = faultBody ?? payload
    const text = typeof body === 'string' ? body : ''
    if (!isEdgeAnswer(reply)) reply.headers(format.headers(request, reply.statusCode, text))
    return body
  })

  app.addHook('onResponse', async (request, reply) => {
    const tracked = trackedCalls.get(request)
    if (tracked)
      Object.assign(tracked.call, { status: reply.statusCode, ms: Math.round(performance.now() - tracked.startedMs) })
  })

  return { faultOf: (request) => trackedCalls.get(request)?.fault }
}

/** The path that was called, without its query. */
export function pathOf(request: FastifyRequest): string {
  return request.url.split('?')[0] ?? ''
}

function logEntry(request: FastifyRequest, { basePath, caller }: VendorFormat): Call {
  const [path = '', query = ''] = request.url.split('?')
  const documented = request.routeOptions.url?.slice(basePath.length).replace(/:(\w+)/g, '{$1}') ?? '(no such path)'
  const route = `${request.method} ${documented}`
  return { at: new Date().toISOString(), method: request.method, path, query, route, caller: caller(request) }
}

type FaultTarget = { request: FastifyRequest; reply: FastifyReply; format: VendorFormat; closing: AbortSignal }

/** Carries a fault out: never resolves where no answer follows, resolves with the body that replaces the answer, if any. */
async function applyFault(
  fault: ActiveFault,
  { request, reply, format, closing }: FaultTarget,
): Promise<string | undefined> {
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
  return JSON.stringify(format.errorBody(fault.answer, fault.message))
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
