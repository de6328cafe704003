import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { CloudError } from '../../clouds/ports/cloud.ts'

export type Seen = {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: unknown
}

/** The reaction to a request: answer, cut the connection before or in the middle of an answer, or never answer. */
export type Reply =
  | { status?: number; json?: unknown; text?: string; headers?: Record<string, string>; afterMs?: number }
  | 'cut'
  | 'cut in the middle'
  | 'silence'

export type ScriptedServer = AsyncDisposable & { url: string; seen: Seen[] }

/** A server on a free loopback port that does what the script says; `nth` counts all requests, from 1. */
export async function startScript(script: (request: Seen, nth: number) => Reply): Promise<ScriptedServer> {
  const seen: Seen[] = []
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://scripted')
    const body = await text(request)
    seen.push({
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: body === '' ? undefined : readBody(request.headers['content-type'], body),
    })
    send(response, script(seen.at(-1)!, seen.length))
  }
  const server = createServer((request, response) => void serve(request, response))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

function readBody(type: string | undefined, body: string): unknown {
  return type === 'application/x-www-form-urlencoded' ? Object.fromEntries(new URLSearchParams(body)) : JSON.parse(body)
}

function send(response: ServerResponse, reply: Reply): void {
  if (reply === 'silence') return
  if (reply === 'cut') {
    response.socket?.destroy()
    return
  }
  if (reply === 'cut in the middle') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{"half": ')
    setTimeout(() => response.socket?.destroy(), 20)
    return
  }
  const { status = 200, json, text: plain, headers = {}, afterMs = 0 } = reply
  const body = json === undefined ? (plain ?? '') : JSON.stringify(json)
  const type = json === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }
  setTimeout(() => response.writeHead(status, { ...type, ...headers }).end(body), afterMs)
}

/** Runs what must fail, and hands over how it failed. */
export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
  } catch (error) {
    return error
  }
  throw new Error('it succeeded')
}

/** Runs a call that a cloud must refuse. */
export async function cloudErrorOf(work: Promise<unknown>): Promise<CloudError> {
  const error = await failureOf(work)
  if (error instanceof CloudError) return error
  throw new Error('it failed, but not with a CloudError', { cause: error })
}

export const neverAborted = new AbortController().signal
