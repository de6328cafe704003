import { setTimeout as sleep } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Call, CallLog } from './call-log.ts'
import { type ActiveFault, type Fault, type Faults, describeFault } from './faults.ts'
import type { Latency } from './latency.ts'

/** The parts that every answer of a vendor's API has. */
export type VendorFormat = {
  basePath: string
  /** Returns the label of a request's token, never the token itself. */
  caller: (request: FastifyRequest) => string
  /** The headers of answers that the API makes; answers of an edge server have none of them. */
  headers?(request: FastifyRequest, status: number, payload: string): Record<string, string>
  /** Returns the error body for a status, in the usual words where none are given. */
  errorBody: (status: number, message?: string, code?: string) => object
}

type TrackedCall = { fault: ActiveFault | undefined; call: Call; startedMs: number }

/** Returns the fault of a call to code that makes lists: its effect depends on how the vendor pages them. */
export type FaultOf = (request: FastifyRequest) => ActiveFault | undefined

const edgeTitles: Record<number, string> = { 502: 'Bad Gateway', 503: 'Service Unavailable', 504: 'Gateway Time-out' }
const never = new Promise<never>(() => {})

/** Logs and delays the calls to every route of `app`, and applies faults to them. `closing` ends calls that wait. */
export function interceptCalls(
  app: FastifyInstance,
  control: { faults: Faults; latency: Latency; calls: CallLog },
  { format, closing }: { format: VendorFormat; closing: AbortSignal },
): FaultOf {
  const trackedCalls = new WeakMap<FastifyRequest, TrackedCall>()

  app.addHook('onRequest', async (request, reply) => {
    const path = pathOf(request).slice(format.basePath.length)
    const fault = control.faults.strike(request.method, path)
    const tracked = { fault, call: control.calls.add(logEntry(request, format)), startedMs: performance.now() }
    if (fault) tracked.call.fault = describeFault(fault)
    trackedCalls.set(request, tracked)
    await sleepMs(control.latency.msFor(request.method, path), closing)
    if (!fault || fault.done) return undefined
    const body = await applyFault(fault, { request, reply, format, closing })
    return body === undefined ? undefined : reply.send(body)
  })

  /** A fault that strikes after the work waits for the next call if the rate limit refused this one. */
  const struckBy = (request: FastifyRequest, reply: FastifyReply) => {
    const tracked = trackedCalls.get(request)
    if (!tracked?.fault?.done || reply.statusCode !== 429) return tracked?.fault
    control.faults.restore(tracked.fault)
    delete tracked.call.fault
    tracked.fault = undefined
    return undefined
  }

  app.addHook('onSend', async (request, reply, payload) => {
    const fault = struckBy(request, reply)
    const faultBody = fault?.done ? await applyFault(fault, { request, reply, format, closing }) : undefined
    const body = faultBody ?? falsified(payload, fault)
    const text = typeof body === 'string' ? body : ''
    if (!isEdgeAnswer(reply)) reply.headers(format.headers?.(request, reply.statusCode, text) ?? {})
    return body
  })

  app.addHook('onResponse', async (request, reply) => {
    const tracked = trackedCalls.get(request)
    if (tracked)
      Object.assign(tracked.call, { status: reply.statusCode, ms: Math.round(performance.now() - tracked.startedMs) })
  })

  return (request) => trackedCalls.get(request)?.fault
}

/** Returns the path of a request without its query. */
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

/** Applies a fault. Resolves with the body that replaces the answer, if any; never resolves if no answer follows. */
async function applyFault(
  fault: ActiveFault,
  { request, reply, format, closing }: FaultTarget,
): Promise<string | undefined> {
  if (fault.answer === 'hang') return never
  if (fault.answer === 'reset') {
    const { socket } = request.raw
    // A TLS connection cannot be reset; it just closes.
    if (socket instanceof TLSSocket) socket.destroy()
    else socket.resetAndDestroy()
    return never
  }
  if (fault.answer === 'slow') await sleepMs(fault.ms ?? 0, closing)
  if (fault.answer === 'web-page') return webPage(reply.code(200), 'Welcome')
  if (fault.answer === 'redirect')
    return webPage(reply.code(301).header('location', fault.location ?? plainUrl(request)), '301 Moved Permanently')
  if (typeof fault.answer !== 'number') return undefined
  reply.code(fault.answer).removeHeader('content-length')
  if (fault.retryAfterSeconds !== undefined) reply.header('retry-after', String(fault.retryAfterSeconds))
  if (fault.empty) return ''
  const title = edgeTitles[fault.answer]
  if (title) return webPage(reply, `${fault.answer} ${title}`)
  reply.type('application/json; charset=utf-8')
  return JSON.stringify(format.errorBody(fault.answer, fault.message, fault.code))
}

/** Applies a fault by which the cloud answers with an address that it did not allocate, or with the id of another object. */
function falsified(payload: unknown, fault: ActiveFault | undefined): unknown {
  if (typeof payload !== 'string' || !payload.startsWith('{')) return payload
  if (fault?.answer === 'other-id') return JSON.stringify(withId(JSON.parse(payload) as object, fault.otherId))
  if (fault?.answer !== 'other-address') return payload
  const isAddress = (name: string) => ['address', 'ip', 'ip_address', 'cidr'].includes(name)
  const other = (name: string, value: unknown) =>
    isAddress(name) && typeof value === 'string' ? value.replace(/^[^/]+/, fault.address ?? '') : value
  return JSON.stringify(JSON.parse(payload, other))
}

/** Vendors answer with an object, or with an object in the field of its kind. */
function withId(answer: object, id: Fault['otherId']): object {
  if ('id' in answer) return { ...answer, id }
  const objects = Object.entries(answer).map(([name, value]: [string, unknown]) =>
    typeof value === 'object' && value !== null && 'id' in value ? [name, { ...value, id }] : [name, value],
  )
  return Object.fromEntries(objects) as object
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

/** Sleeps. If the cloud closes meanwhile, this never resolves, so the call gets no answer. */
async function sleepMs(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => never)
}
