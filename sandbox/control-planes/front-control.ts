import { once } from 'node:events'
import { request } from 'node:http'

/** What a front does with each request: it waits, and it answers with a status instead of asking the API server. */
export type FrontAnswer = { delayMs?: number; status?: number }

/** Tells a front how to answer from now on. A file's socket reaches into any network namespace. */
export async function tellFront(controlSocket: string, answer: FrontAnswer): Promise<void> {
  const call = request({ socketPath: controlSocket, method: 'PUT' })
  call.end(JSON.stringify(answer))
  const [given] = (await once(call, 'response')) as [NodeJS.ReadableStream]
  given.resume()
  await once(given, 'end')
}
