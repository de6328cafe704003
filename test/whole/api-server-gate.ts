// API servers of several machines on a single one: each listens on its own loopback address and breaks when a test says
// so.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type Server, createServer, request } from 'node:https'
import { type Server as TcpServer, type Socket, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** `well`: answers as the API server does. `slow`: two seconds later. `hangs`: never. */
export type GateMode = 'well' | 'slow' | 'hangs' | 'broken' | 'refuses'

export type Gate = {
  address: string
  port: number
  set(mode: GateMode): Promise<void>
  close(): Promise<void>
}

export type GateOptions = {
  address: string
  port: number
  /** The real API server, and the folder of its certificate. */
  target: string
  dir: string
}

/** Opens the port of one control-plane machine. It answers probes with the certificate of the real API server. */
export async function openGate({ address, port, target, dir }: GateOptions): Promise<Gate> {
  const cert = readFileSync(join(dir, 'certs', 'apiserver.crt'))
  const key = readFileSync(join(dir, 'certs', 'apiserver.key'))
  let mode: GateMode = 'well'
  let server: Server | TcpServer | undefined
  const sockets = new Set<Socket>()

  const answer = async (path: string): Promise<{ status: number; text: string }> => {
    if (mode === 'slow') await sleep(2_000)
    return mode === 'broken' ? { status: 500, text: '[-]etcd failed: reason withheld\n' } : ask(target + path, cert)
  }
  const open = async () => {
    // A stopped process still gets connections, which the kernel accepts.
    server =
      mode === 'hangs'
        ? createTcpServer()
        : createServer({ cert, key }, (asked, reply) => {
            if (asked.headers.authorization !== undefined) throw new Error('a probe sent a token')
            answer(asked.url ?? '').then(
              ({ status, text }) => reply.writeHead(status).end(text),
              () => reply.destroy(),
            )
          })
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    })
    server.on('tlsClientError', () => {})
    server.listen(port, address)
    await once(server, 'listening')
  }
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    const closing = server
    server = undefined
    if (closing) await once(closing.close(), 'close')
  }
  await open()
  return {
    address,
    port,
    async set(next) {
      mode = next
      await close()
      if (next !== 'refuses') await open()
    },
    close,
  }
}

function ask(url: string, ca: Buffer): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(url, { ca, agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => void (text += part))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    call.on('error', reject)
    call.end()
  })
}
