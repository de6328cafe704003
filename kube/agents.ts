import { hash } from 'node:crypto'
import type { Agent, AgentOptions, IncomingMessage, RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as https } from 'node:https'
import { nodeHttp } from '../lib/node-http.ts'
import { untilAborted } from '../lib/time-limit.ts'
import type { Access } from './credentials.ts'

/** The API server closes idle connections after 90 s. We close ours first, so that no request meets a closing one. */
const idleMs = 60_000
const keepAliveMs = 30_000
/** How many connections stay open after a burst of calls. */
const kept = { keepAlive: true, timeout: idleMs, maxFreeSockets: 8 }

export type Request = {
  method: string
  path: string
  headers: Record<string, string | number>
  body: string | undefined
  /** Whether to use a new connection, which closes after the response. */
  ownConnection: boolean
  /** Whether the request may be sent twice. */
  idempotent: boolean
}

/** Sends requests over kept-alive connections, and opens new ones when the CA or our certificate changes. */
export type Agents = { send(access: Access, request: Request, signal: AbortSignal): Promise<IncomingMessage> }

/** The connections of one client. The first request opens one. If all are busy, a request waits for one. */
export function agents(maxSockets = 32): Agents {
  let shared: { access: Access; identity: string; agent: Agent } | undefined

  const sharedAgent = (access: Access) => {
    if (access.proxy) return access.proxy
    // The credentials are the same object until they are read again.
    if (shared?.access === access) return shared.agent
    const identity = identityOf(access)
    // The old agent completes its calls in flight, and its idle connections time out.
    const agent = shared?.identity === identity ? shared.agent : makeAgent(access, { ...kept, maxSockets })
    shared = { access, identity, agent }
    return agent
  }

  return {
    async send(access, request, signal) {
      const agent = request.ownConnection ? unsharedAgent(access) : sharedAgent(access)
      try {
        return await sendOnce(access, request, { agent, signal })
      } catch (error) {
        if (!(error instanceof StaleConnection)) throw error
        if (!request.idempotent) throw error.cause
        return sendOnce(access, request, { agent: unsharedAgent(access), signal })
      }
    },
  }
}

function unsharedAgent(access: Access): Agent {
  return access.proxy ?? makeAgent(access, { keepAlive: false })
}

/** A kept-alive connection was already closed: the server may never have received the request. */
class StaleConnection extends Error {}

function sendOnce(
  access: Access,
  { method, path, headers, body }: Request,
  { agent, signal }: { agent: Agent; signal: AbortSignal },
): Promise<IncomingMessage> {
  const url = new URL(access.url)
  const options: RequestOptions = { method, headers: { ...headers, ...access.headers }, agent, signal }
  const send = url.protocol === 'http:' ? nodeHttp.request : https
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    const request = send(new URL(url.pathname.replace(/\/$/, '') + path, url), options, resolve)
    request.on('socket', (socket) => socket.setKeepAlive(true, keepAliveMs))
    request.on('error', (cause) => {
      const stale = request.reusedSocket && !signal.aborted
      reject(stale ? new StaleConnection('the connection was closed while it was idle', { cause }) : cause)
    })
    request.end(body)
  })
  // A request that waits for a connection emits no error at the abort. The agent drops it when its turn comes.
  return untilAborted(response, signal)
}

function makeAgent({ url, tls }: Access, options: AgentOptions): Agent {
  return new URL(url).protocol === 'http:' ? new nodeHttp.Agent(options) : new HttpsAgent({ ...options, ...tls })
}

function identityOf({ url, tls }: Access): string {
  return hash('sha256', JSON.stringify([url, tls]))
}
