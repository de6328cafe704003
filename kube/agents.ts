import { hash } from 'node:crypto'
import {
  type Agent,
  type AgentOptions,
  Agent as HttpAgent,
  type IncomingMessage,
  type RequestOptions,
  request as http,
} from 'node:http'
import { Agent as HttpsAgent, request as https } from 'node:https'
import type { Access } from './credentials.ts'

/** The API server closes idle connections after 90 s; ours go first, so that no request meets a closing one. */
const idleMs = 60_000
const keepAliveMs = 30_000
/** A burst waits in line rather than open a connection for each call, and few stay when it is over. */
const pool = { keepAlive: true, timeout: idleMs, maxSockets: 32, maxFreeSockets: 8 }

export type Request = {
  method: string
  path: string
  headers: Record<string, string | number>
  body: string | undefined
  /** Sent on a connection of its own, which ends with the answer. */
  alone: boolean
  /** Carrying it out twice does what carrying it out once does. */
  idempotent: boolean
}

/** Sends requests over kept-alive connections, which are made anew when the CA or our certificate changes. */
export type Agents = { send(access: Access, request: Request, signal: AbortSignal): Promise<IncomingMessage> }

/** No connections yet; the first request makes one. */
export function agents(): Agents {
  let shared: { identity: string; agent: Agent } | undefined

  const sharedAgent = (access: Access) => {
    if (access.proxy) return access.proxy
    const identity = identityOf(access)
    // The old agent ends calls in flight as it began them, and its idle connections run out by themselves.
    if (shared?.identity !== identity) shared = { identity, agent: makeAgent(access, pool) }
    return shared.agent
  }

  return {
    async send(access, request, signal) {
      const agent = request.alone ? aloneAgent(access) : sharedAgent(access)
      try {
        return await begin(access, request, { agent, signal })
      } catch (error) {
        if (!(error instanceof StaleConnection)) throw error
        if (!request.idempotent) throw error.cause
        return begin(access, request, { agent: aloneAgent(access), signal })
      }
    },
  }
}

function aloneAgent(access: Access): Agent {
  return access.proxy ?? makeAgent(access, { keepAlive: false })
}

/** A kept connection that turned out to be closed: the server may never have seen the request. */
class StaleConnection extends Error {}

function begin(
  access: Access,
  { method, path, headers, body }: Request,
  { agent, signal }: { agent: Agent; signal: AbortSignal },
): Promise<IncomingMessage> {
  const url = new URL(access.url)
  const options: RequestOptions = { method, headers: { ...headers, ...access.headers }, agent, signal }
  const send = url.protocol === 'http:' ? http : https
  return new Promise((resolve, reject) => {
    const request = send(new URL(url.pathname.replace(/\/$/, '') + path, url), options, resolve)
    request.on('socket', (socket) => socket.setKeepAlive(true, keepAliveMs))
    request.on('error', (cause) => {
      const stale = request.reusedSocket && !signal.aborted
      reject(stale ? new StaleConnection('the connection was closed while it was idle', { cause }) : cause)
    })
    request.end(body)
  })
}

function makeAgent({ url, tls }: Access, options: AgentOptions): Agent {
  return new URL(url).protocol === 'http:' ? new HttpAgent(options) : new HttpsAgent({ ...options, ...tls })
}

function identityOf({ url, tls }: Access): string {
  return hash('sha256', JSON.stringify([url, tls]))
}
