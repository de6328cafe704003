import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../kube/log.ts'
import { type Access, type Refusal, pageAccess } from './access.ts'
import { type PageFacts, makeModel } from './model.ts'
import { contentSecurityPolicy, renderPage } from './render.ts'
import { tokenCheck } from '../settings/token-file.ts'

/** Answers a request for one of `paths`. */
export type StatusPage = (request: IncomingMessage, response: ServerResponse) => void

/** The path of the page, and the path where browsers look for its icon. */
export const paths = { page: '/status', icon: '/favicon.ico' } as const

export type StatusPageOptions = {
  facts: () => PageFacts
  /** Without it, the page is shown to everyone who reaches the listener by a loopback name. */
  tokenFile: string | undefined
  log: Log
}

/** Serves the page, which each view builds from memory. */
export function statusPage({ facts, tokenFile, log }: StatusPageOptions): StatusPage {
  const now = () => performance.now()
  const isToken = tokenFile === undefined ? undefined : tokenCheck({ path: tokenFile, log, now })
  const access = pageAccess({ isToken, now })
  return (request, response) => {
    // The page has no icon, but browsers ask for it.
    if (pathOf(request) === paths.icon) return void response.writeHead(204, headers).end()
    const refusal = refusalOf(request, access)
    if (refusal) return refuse(response, refusal)
    try {
      const nowMs = Date.now()
      const text = renderPage(makeModel(facts(), nowMs), nowMs)
      response.writeHead(200, { ...headers, 'content-type': 'text/html; charset=utf-8' })
      response.end(request.method === 'HEAD' ? undefined : text)
    } catch (error) {
      // An error in the page must not end the process.
      log.error({ error }, 'status page not built')
      refuse(response, { status: 500, headers: {}, text: 'The page could not be built: read the log.\n' })
    }
  }
}

/**
 * The headers of every answer. The page shows names from all namespaces, so no cache may store it, and no other site
 * may read or frame it.
 */
const headers = {
  'content-security-policy': contentSecurityPolicy,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}

/** The path of a request without its query. The URL class would throw on an invalid one. */
function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?')[0] ?? ''
}

type AnyRefusal = Omit<Refusal, 'status'> & { status: number }

function refusalOf(request: IncomingMessage, access: Access): AnyRefusal | undefined {
  const { method, headers: given, socket } = request
  if (!Object.values<string>(paths).includes(pathOf(request))) return { status: 404, headers: {}, text: 'not found\n' }
  if (method !== 'GET' && method !== 'HEAD')
    return { status: 405, headers: { allow: 'GET, HEAD' }, text: 'read-only\n' }
  return access({ headers: given, remoteAddress: socket.remoteAddress })
}

function refuse(response: ServerResponse, { status, headers: own, text }: AnyRefusal): void {
  response.writeHead(status, { ...headers, 'content-type': 'text/plain; charset=utf-8', ...own }).end(text)
}
