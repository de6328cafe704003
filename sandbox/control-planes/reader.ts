// Constantly reads through an address, each time on a new connection, and prints each read as a line of JSON. Call it
// as `node reader.ts URL CA_FILE TOKEN TIMEOUT_MS`; it runs until it is ended.
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import type { NumberedRead } from './reads.ts'

const periodMs = 50

const [url = '', authorityFile = '', token = '', timeoutMs = ''] = process.argv.slice(2)
const options = {
  agent: false,
  ca: readFileSync(authorityFile),
  headers: { authorization: `Bearer ${token}` },
} as const

/** Resolves with undefined after a good answer, otherwise with what went wrong. */
function readOnce(): Promise<string | undefined> {
  return new Promise((resolve) => {
    const call = request(url, { ...options, signal: AbortSignal.timeout(Number(timeoutMs)) }, (answer) => {
      answer.resume()
      answer.on('error', (error) => resolve(error.message))
      answer.on('end', () => resolve(answer.statusCode === 200 ? undefined : `status ${answer.statusCode}`))
    })
    call.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    call.end()
  })
}

let begun = 0

/** Reads, and retries once immediately after a failure. */
async function read(): Promise<void> {
  const number = (begun += 1)
  const startedMs = Date.now()
  const problem = await readOnce()
  const done: NumberedRead = { number, startedMs, endedMs: Date.now() }
  if (problem !== undefined) done.first = problem
  if (problem !== undefined) {
    const again = await readOnce()
    if (again !== undefined) done.second = again
    done.retriedMs = Date.now()
  }
  process.stdout.write(`${JSON.stringify(done)}\n`)
}

setInterval(() => void read(), periodMs)
