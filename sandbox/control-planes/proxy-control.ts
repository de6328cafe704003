import { once } from 'node:events'
import { request } from 'node:http'

/** The work of a proxy for each request: it waits, and it answers with a status instead of asking the API server. */
export type ProxyAnswer = { delayMs?: number; status?: number }

/** Tells a proxy how to answer from now on. A file's socket reaches into any network namespace. */
export async function tellProxy(controlSocket: string, answer: ProxyAnswer): Promise<void> {
  const call = request({ socketPath: controlSocket, method: 'PUT' })
  call.end(JSON.stringify(answer))
  const [given] = (await once(call, 'response')) as [NodeJS.ReadableStream]
  given.resume()
  await once(given, 'end')
}
