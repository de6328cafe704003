import type { Agent, AgentOptions, IncomingMessage, RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as https } from 'node:https'
import { TLSSocket } from 'node:tls'
import { createGunzip } from 'node:zlib'
import { nodeHttp } from '../../lib/node-http.ts'
import type { ReceivedResponse } from './answer.ts'

/** The environment variables that name proxies. */
export type ProxyEnvironment = { HTTP_PROXY?: string; HTTPS_PROXY?: string; NO_PROXY?: string }

/** The parts of a request that are sent to a URL. */
export type RequestParts = { method: string; headers: Record<string, string>; body?: string }

/** Sends a request and returns the response once its headers have arrived. */
export type Send = (url: string, init: RequestParts, signal: AbortSignal) => Promise<ReceivedResponse>

/** Servers close idle connections without notice, some after 5 s. We close ours first, so that no write meets a closing one. */
const usualIdleMs = 4_000

/** The error code for a connection that was not made in time, so that nothing was sent. */
export const connectTimeoutCode = 'EIP_CONNECT_TIMEOUT'

export type SendOptions = {
  proxy?: ProxyEnvironment | undefined
  connectTimeoutMs?: number
  /** How long a connection without traffic is kept. */
  idleMs?: number
}

/** Sends requests over kept-alive connections. It avoids the global `fetch`, whose library takes 15 MiB. */
export function makeSend({ proxy = {}, connectTimeoutMs = 10_000, idleMs = usualIdleMs }: SendOptions): Send {
  const options: AgentOptions = { keepAlive: true, timeout: idleMs, proxyEnv: proxy }
  const agents: { [protocol in 'http:' | 'https:']?: Agent } = {}

  return async (url, init, signal) => {
    const isHttp = url.startsWith('http:')
    const agent = isHttp
      ? (agents['http:'] ??= new nodeHttp.Agent(options))
      : (agents['https:'] ??= new HttpsAgent(options))
    const { method, body } = init
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const headers = { ...init.headers, ...length, 'accept-encoding': 'gzip' }
    return received(
      await sent(isHttp ? nodeHttp.request : https, {
        url,
        body,
        options: { method, headers, agent, signal },
        connectTimeoutMs,
      }),
    )
  }
}

type Sending = { url: string; body: string | undefined; options: RequestOptions; connectTimeoutMs: number }

function sent(start: typeof https, { url, body, options, connectTimeoutMs }: Sending): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = start(url, options, resolve)
    const seconds = connectTimeoutMs / 1000
    const error = Object.assign(new Error(`no connection within ${seconds} s`), { code: connectTimeoutCode })
    const timer = setTimeout(() => request.destroy(error), connectTimeoutMs)
    const connected = () => clearTimeout(timer)
    request.on('socket', (socket) => {
      if (request.reusedSocket) connected()
      else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', connected)
    })
    // A request that ends any other way does not need the timer either.
    request.on('close', connected)
    request.on('error', reject)
    request.end(body)
  })
}

function received(message: IncomingMessage): ReceivedResponse {
  const isZipped = message.headers['content-encoding'] === 'gzip'
  return {
    status: message.statusCode ?? 0,
    headers: { get: (name) => [message.headers[name.toLowerCase()]].flat().join(', ') || null },
    body: isZipped ? unzipped(message) : message,
  }
}

/** The end of either stream ends the other, so that an unread response keeps no connection. */
async function* unzipped(message: IncomingMessage): AsyncGenerator<Uint8Array> {
  const plain = message.pipe(createGunzip())
  message.on('error', (error) => plain.destroy(error))
  try {
    yield* plain as AsyncIterable<Uint8Array>
  } finally {
    message.destroy()
  }
}
