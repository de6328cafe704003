import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Child, startChild } from '../child.ts'
import { type Loss, type Read, summarizeReads } from './reads.ts'

/** A user of the control-plane address, who reads through it all the time. */
export type Client = {
  /** Returns what was lost since a moment; reads that are under way are waited for. */
  lossSince(fromMs: number): Promise<Loss>
  /** Waits for this many good answers in a row; throws where they do not come in time. */
  untilAnswered(times: number, withinMs: number): Promise<void>
  stop(): Promise<void>
}

/** The longest that a read and its retry take, with what the machine's load adds. */
const underWayMs = 2500

/** Starts a client; `on` returns the command that runs a program where the client is. */
export function startClient(options: {
  on: (command: string[]) => string[]
  url: string
  authorityFile: string
  token: string
  logFile: string
}): Client {
  const { on, url, authorityFile, token, logFile } = options
  const reads: Read[] = []
  const onLine = (line: string) => reads.push(JSON.parse(line) as Read)
  const program = join(import.meta.dirname, 'reader.ts')
  const child: Child = startChild(on([process.execPath, program, url, authorityFile, token]), { logFile, onLine })
  return {
    async lossSince(fromMs) {
      const toMs = Date.now()
      await sleep(underWayMs)
      return summarizeReads(reads, { fromMs, toMs })
    },
    async untilAnswered(times, withinMs) {
      const deadlineMs = Date.now() + withinMs
      const fromMs = Date.now()
      const isAnswered = () => {
        const since = reads.filter(({ startedMs }) => startedMs >= fromMs).slice(-times)
        return since.length === times && since.every(({ first }) => first === undefined)
      }
      while (!isAnswered()) {
        if (!child.isRunning()) throw new Error(`the client has ended; read its log: ${logFile}`)
        if (Date.now() > deadlineMs)
          throw new Error(`no ${times} good answers in ${withinMs} ms: ${JSON.stringify(reads.at(-1))}`)
        await sleep(20)
      }
    },
    stop: async () => void (await child.stop('SIGKILL')),
  }
}
