import { once } from 'node:events'
import { request } from 'node:http'

/** The treatment of each request: a delay, and a status to answer with instead of calling the API server. */
export type ProxyAnswer = { delayMs?: number; status?: number }

/** Tells a proxy how to answer from now on. A Unix socket is reachable from any network namespace. */
export async function tellProxy(controlSocket: string, answer: ProxyAnswer): Promise<void> {
  const call = request({ socketPath: controlSocket, method: 'PUT' })
  call.end(JSON.stringify(answer))
  const [given] = (await once(call, 'response')) as [NodeJS.ReadableStream]
  given.resume()
  await once(given, 'end')
}
