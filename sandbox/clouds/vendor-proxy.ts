// A proxy for programs that can reach a vendor's API only by its host name. It answers for these names with its own
// certificate, and forwards requests to the simulated cloud. It refuses every other host, so no call reaches a vendor.
import { once } from 'node:events'
import { type RequestListener, createServer, request } from 'node:http'
import { type Server, createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { issueAuthority, issueLeaf } from '../../certs/authority.ts'

/** The host names of a vendor's APIs, and the URL of the simulated cloud that answers instead of each. */
export type VendorHosts = Record<string, string>

export type VendorProxy = {
  /** The value of HTTPS_PROXY. */
  url: string
  /** The authority that clients have to trust; they find it in the file that SSL_CERT_FILE names. */
  authority: string
  /** The other hosts that clients asked for, with their ports. */
  refused: string[]
  close(): Promise<void>
}

const lifetimeMs = 24 * 3_600_000

/** Starts such a proxy at a free port of the loopback interface. */
export async function startVendorProxy(hosts: VendorHosts): Promise<VendorProxy> {
  const now = Date.now()
  const authority = await issueAuthority({ commonName: 'simulated vendors', now, lifetimeMs })
  const leaf = await issueLeaf({ authority, hosts: Object.keys(hosts), now, lifetimeMs })
  const vendors = new Map<string, Server>()
  for (const [host, url] of Object.entries(hosts))
    vendors.set(`${host}:443`, createTlsServer(leaf, forwardTo(loopbackUrl(url))))
  const refused: string[] = []
  const sockets = new Set<Socket>()
  const proxy = createServer((incoming, answer) => {
    refused.push(incoming.url ?? '')
    answer.writeHead(403).end(`${incoming.url} is refused: this proxy only opens tunnels for https\n`)
  })
  proxy.on('connection', (socket: Socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)))
  })
  proxy.on('connect', ({ url: target = '' }, socket: Socket) => {
    // An early disconnect is the client's own concern.
    socket.on('error', () => socket.destroy())
    const vendor = vendors.get(target)
    if (!vendor) {
      refused.push(target)
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n')
      return
    }
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    vendor.emit('connection', socket)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    authority: authority.cert,
    refused,
    async close() {
      const closed = once(proxy.close(), 'close')
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** Nothing but a simulated cloud may get a client's token. */
function loopbackUrl(text: string): URL {
  const url = new URL(text)
  if (url.protocol === 'http:' && url.hostname === '127.0.0.1') return url
  throw new Error(`${text}: expected http://127.0.0.1, where a simulated cloud listens`)
}

function forwardTo({ hostname, port, host, pathname }: URL): RequestListener {
  const base = pathname.replace(/\/$/, '')
  return (incoming, answer) => {
    const { method, headers, url = '' } = incoming
    const outgoing = request({ hostname, port, method, path: base + url, headers: { ...headers, host } })
    outgoing.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      pipeline(response, answer, () => {})
    })
    // The simulated cloud cuts connections when a test tells it to, and the client must see the cut.
    pipeline(incoming, outgoing, (error) => {
      if (error) answer.destroy()
    })
    outgoing.on('error', () => answer.destroy())
    answer.on('close', () => outgoing.destroy())
  }
}
