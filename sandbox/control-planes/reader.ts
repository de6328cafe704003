// Reads through an address all the time, each read on a connection of its own, and prints each as a line of JSON.
// Call it as `node reader.ts URL CA_FILE TOKEN`; it runs until it is ended.
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import type { Read } from './reads.ts'

const periodMs = 50
const timeoutMs = 1000

const [url = '', authorityFile = '', token = ''] = process.argv.slice(2)
const options = {
  agent: false,
  ca: readFileSync(authorityFile),
  headers: { authorization: `Bearer ${token}` },
} as const

/** Resolves with undefined after a good answer, otherwise with what went wrong. */
function readOnce(): Promise<string | undefined> {
  return new Promise((resolve) => {
    const call = request(url, { ...options, signal: AbortSignal.timeout(timeoutMs) }, (answer) => {
      answer.resume()
      answer.on('error', (error) => resolve(error.message))
      answer.on('end', () => resolve(answer.statusCode === 200 ? undefined : `status ${answer.statusCode}`))
    })
    call.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    call.end()
  })
}

/** Reads, and reads once more at once where that failed. */
async function read(): Promise<void> {
  const startedMs = Date.now()
  const problem = await readOnce()
  const done: Read = { startedMs, endedMs: Date.now() }
  if (problem !== undefined) done.first = problem
  if (problem !== undefined) {
    const again = await readOnce()
    if (again !== undefined) done.second = again
    done.retriedMs = Date.now()
  }
  process.stdout.write(`${JSON.stringify(done)}\n`)
}

setInterval(() => void read(), periodMs)
