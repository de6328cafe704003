import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Child, startChild } from '../child.ts'
import { type Loss, type NumberedRead, summarizeReads } from './reads.ts'

/** A user of the control-plane address, who constantly reads through it. */
export type Client = {
  /** Returns what was lost since a moment; reads that are under way are waited for. */
  lossSince(fromMs: number): Promise<Loss>
  /** Waits for this many good answers in a row; throws if they do not come in time. */
  untilAnswered(times: number, withinMs: number): Promise<void>
  stop(): Promise<void>
}

/** Starts a client; `on` returns the command that runs a program where the client is. */
export function startClient(options: {
  on: (command: string[]) => string[]
  url: string
  authorityFile: string
  token: string
  /** How long a read waits for its answer; its retry waits as long again. */
  timeoutMs: number
  logFile: string
}): Client {
  const { on, url, authorityFile, token, timeoutMs, logFile } = options
  const reads: NumberedRead[] = []
  const onLine = (line: string) => reads.push(JSON.parse(line) as NumberedRead)
  const program = join(import.meta.dirname, 'reader.ts')
  const args = [program, url, authorityFile, token, String(timeoutMs)]
  const child: Child = startChild(on([process.execPath, ...args]), { logFile, onLine })
  const untilNext = async () => {
    if (!child.isRunning()) throw new Error(`the client has ended; read its log: ${logFile}`)
    await sleep(20)
  }
  return {
    async lossSince(fromMs) {
      const toMs = Date.now()
      while (!haveEnded(reads, toMs)) await untilNext()
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
        if (Date.now() > deadlineMs)
          throw new Error(`no ${times} good answers in ${withinMs} ms: ${JSON.stringify(reads.at(-1))}`)
        await untilNext()
      }
    },
    stop: async () => void (await child.stop('SIGKILL')),
  }
}

/** Whether every read that began until then has ended. */
function haveEnded(reads: NumberedRead[], toMs: number): boolean {
  const later = reads.find(({ startedMs }) => startedMs > toMs)
  return later !== undefined && reads.filter(({ number }) => number < later.number).length === later.number - 1
}
