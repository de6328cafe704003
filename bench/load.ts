import { once } from 'node:events'
import { type TLSSocket, connect } from 'node:tls'

export type Load = { port: number; path: string; body: string; connections: number; requests: number }

export type Seen = { latenciesMs: number[]; perSecond: number }

/**
 * Sends the same request repeatedly: each connection sends its next one after the previous answer. It writes to the
 * sockets itself, because an HTTP client costs more than the server that it should measure.
 */
export async function load({ port, path, body, connections, requests }: Load): Promise<Seen> {
  const request = requestOf(path, body)
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)))
  const latenciesMs: number[] = []
  let left = requests
  const started = performance.now()
  await Promise.all(
    sockets.map(async (socket) => {
      const answers = answersOf(socket)
      while (left > 0) {
        left -= 1
        const sentMs = performance.now()
        socket.write(request)
        await answers.next()
        latenciesMs.push(performance.now() - sentMs)
      }
    }),
  )
  const perSecond = (requests * 1000) / (performance.now() - started)
  for (const socket of sockets) socket.destroy()
  return { latenciesMs, perSecond }
}

async function open(port: number): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  socket.setNoDelay(true)
  await once(socket, 'secureConnect')
  return socket
}

function requestOf(path: string, body: string): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'accept: application/json',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** The answers of a connection, one after the other; throws if one denies. */
async function* answersOf(socket: TLSSocket): AsyncGenerator<string> {
  let text = ''
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    text += chunk.toString('latin1')
    const end = endOf(text)
    if (end === undefined || text.length < end) continue
    const answer = text.slice(0, end)
    if (!answer.startsWith('HTTP/1.1 200') || !answer.includes('"allowed":true')) throw new Error(`answered: ${answer}`)
    text = text.slice(end)
    yield answer
  }
  throw new Error('the connection was closed under load')
}

/** The end of an answer, as soon as its headers have arrived. */
function endOf(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n')
  const length = /content-length: (\d+)/i.exec(text)?.[1]
  return head < 0 || length === undefined ? undefined : head + 4 + Number(length)
}
