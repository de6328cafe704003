import { setTimeout as sleep } from 'node:timers/promises'
import { type Fields, fieldsOf, textOf } from '../http/loose-json.ts'
import { CloudError } from '../ports/cloud.ts'
import { vendor } from './errors.ts'

/** The actions of the cloud after its answer. */
export type Actions = {
  /** Resolves when an action has succeeded; rejects if it failed, or if no caller can wait any longer. */
  ended(action: unknown, signal: AbortSignal): Promise<void>
}

/** Reads the actions with these ids, of which there are at most 25. Those that the cloud has forgotten are missing. */
export type ReadActions = (ids: string[], signal: AbortSignal) => Promise<Fields[]>

const pollMs = 500
/** Actions on addresses take seconds. A longer one goes on without us, and the next look tells what came of it. */
const maxMs = 30_000
/** As many as the vendor's own client asks for at once. */
const maxIds = 25

/** Most actions take as long as those before them. Polls begin when so much of that time is over. */
const quietShare = 0.5

type Waiting = Map<string, { sinceMs: number; settle: (result: Fields | Error) => void }>

/** How long actions take, as far as we have seen. */
type Pace = { usualMs: number }

/**
 * Waits for actions. A single call asks for all that run: a hundred moves at once would use up the calls that the cloud
 * allows.
 */
export function makeActions(read: ReadActions): Actions {
  const waiting: Waiting = new Map()
  const pace: Pace = { usualMs: 0 }
  let isPolling = false
  const pollAll = async () => {
    if (isPolling) return
    isPolling = true
    while (waiting.size > 0) {
      await sleep(pollMs)
      await pollOnce({ waiting, pace }, read)
    }
    isPolling = false
  }
  return {
    async ended(action, signal) {
      const { id, ...first } = fieldsOf(action)
      if (first.status !== 'running') return judge({ id, ...first })
      const { promise, resolve, reject } = Promise.withResolvers<Fields>()
      const settle = (result: Fields | Error) => (result instanceof Error ? reject(result) : resolve(result))
      const leave = () => settleOne(waiting, String(id), actionError(`${String(id)} was not waited for`))
      signal.addEventListener('abort', leave, { once: true })
      waiting.set(String(id), { sinceMs: performance.now(), settle })
      if (signal.aborted) leave()
      void pollAll()
      try {
        judge(await promise)
      } finally {
        signal.removeEventListener('abort', leave)
      }
    },
  }
}

async function pollOnce({ waiting, pace }: { waiting: Waiting; pace: Pace }, read: ReadActions): Promise<void> {
  const ageMs = (sinceMs: number) => performance.now() - sinceMs
  for (const [id, { sinceMs }] of waiting)
    if (ageMs(sinceMs) > maxMs) settleOne(waiting, id, actionError(`${id} still runs after ${maxMs / 1000} s`))
  const due = [...waiting].filter(([, { sinceMs }]) => ageMs(sinceMs) >= quietShare * pace.usualMs)
  const all = due.map(([id]) => id)
  for (let from = 0; from < all.length; from += maxIds) {
    const ids = all.slice(from, from + maxIds)
    const found = await read(ids, AbortSignal.timeout(maxMs)).catch((error: Error) => error)
    if (found instanceof Error) ids.forEach((id) => settleOne(waiting, id, found))
    else found.forEach((one) => settleEnded({ waiting, pace }, one))
  }
}

function settleEnded({ waiting, pace }: { waiting: Waiting; pace: Pace }, action: Fields): void {
  const id = String(action.id)
  const one = waiting.get(id)
  if (!one || action.status === 'running') return
  pace.usualMs = (pace.usualMs + performance.now() - one.sinceMs) / 2
  settleOne(waiting, id, action)
}

function settleOne(waiting: Waiting, id: string, result: Fields | Error): void {
  waiting.get(id)?.settle(result)
  waiting.delete(id)
}

/** An action that failed has an error; the error of another one means nothing. */
function judge({ id, status, error }: Fields): void {
  if (status === 'success') return
  const { message, code } = fieldsOf(error)
  const text = `${textOf(message) ?? 'no reason'} (${textOf(code) ?? 'no code'})`
  throw actionError(`${String(id)} failed: ${text}`, /locked/.test(text) ? 'conflict' : 'unavailable')
}

/** Only a look at the address tells what an action has done before it failed. */
function actionError(text: string, fault: CloudError['fault'] = 'unavailable'): CloudError {
  return new CloudError(`${vendor}: action ${text}`, { fault, outcome: 'unknown' })
}
