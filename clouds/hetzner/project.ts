import type { VendorHttp } from '../http/client.ts'
import type { Lane } from '../http/lanes.ts'
import { type Fields, countOf, fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import type { VendorCall } from '../http/request.ts'
import { sharedList, type Pages, incompleteError, wholeList } from '../http/whole-list.ts'
import type { Machine } from '../ports/machines.ts'
import type { SharedRead } from '../../lib/shared-read.ts'
import { vendor } from './errors.ts'
import { type FloatingIp, parseFloatingIp } from './parse-floating-ip.ts'
import { parseServer } from './parse-server.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { CloudError } from '../ports/cloud.ts'

/** The project of a token, its HTTP client and its lists. Calls are counted per project, so callers share every list. */
export type Project = {
  http: VendorHttp
  servers: SharedRead<Machine[]>
  addresses: SharedRead<FloatingIp[]>
  /** The same for callers that move an address, which must not wait for others. */
  addressesForMoves: SharedRead<FloatingIp[]>
  actions: Actions
}

/** The most that the API returns. */
const pageSize = 50

/** The project of a client's token, of which nothing has been read yet. */
export function projectAt(http: VendorHttp): Project {
  const listed = <T>(list: List, parse: (item: Fields) => T | undefined) => {
    const read = (signal: AbortSignal) => readList(http, { ...list, keep: parse }, signal)
    return sharedList({ what: `the ${list.name} of ${vendor}`, read })
  }
  const floatingIps = { name: 'reservations', field: 'floating_ips' }
  return {
    http,
    servers: listed({ name: 'machines', field: 'servers' }, parseServer),
    addresses: listed(floatingIps, parseFloatingIp),
    addressesForMoves: listed({ ...floatingIps, lane: 'move' }, parseFloatingIp),
    actions: makeActions(async (ids, signal) => {
      const query = { id: ids }
      // The next move to the same server begins when this one has ended.
      const call: VendorCall = { name: 'actions', method: 'GET', path: ['actions'], query, lane: 'move' }
      const { body } = await http.call(call, signal)
      return itemsOf(fieldsOf(body).actions)?.map(fieldsOf) ?? []
    }),
  }
}

type List = { name: string; field: string; query?: Record<string, string>; lane?: Lane }

/**
 * Every item of a list of the API. Sorting by id keeps an item that is created meanwhile from moving another one's
 * page.
 */
export async function readList<T>(
  http: VendorHttp,
  { name, field, query = {}, lane = 'read', keep }: List & Pick<Pages<T>, 'keep'>,
  signal: AbortSignal,
): Promise<T[]> {
  const pages = { vendor, name }
  const read = async ({ pages: before }: { pages: number }, aborted: AbortSignal) => {
    const paging = { sort: 'id:asc', per_page: pageSize, page: before + 1 }
    const { body, bytes } = await http.call(
      { name, method: 'GET', lane, path: [field], query: { ...query, ...paging } },
      aborted,
    )
    const fields = fieldsOf(body)
    const items = itemsOf(fields[field])?.map(fieldsOf)
    const { total_entries: total, next_page: next } = fieldsOf(fieldsOf(fields['meta'])['pagination'])
    if (!items || next === undefined)
      throw incompleteError(pages, `page ${before + 1} has no ${field}, or does not say whether another one follows`)
    return { items, bytes, promised: countOf(total) ?? 0, isLast: countOf(next) === undefined }
  }
  return wholeList({ ...pages, read, keep }, signal)
}

/** The provider's actions, which continue after its answer. */
type Actions = {
  /** Resolves when an action has succeeded; rejects if it failed, or no caller can wait any longer. */
  ended(action: unknown, signal: AbortSignal): Promise<void>
}

/** Reads the actions with these ids, at most 25. Those that the provider has forgotten are missing. */
type ReadActions = (ids: string[], signal: AbortSignal) => Promise<Fields[]>

const pollMs = 500
/** Actions on addresses take seconds. A longer one continues without us, and the next look shows its result. */
const maxMs = 30_000
/** The number that the vendor's own client asks for at once. */
const maxIds = 25

/** Most actions take as long as earlier ones, so polls begin after this part of that time. */
const quietShare = 0.5

type Waiting = Map<string, { sinceMs: number; settle: (result: Fields | Error) => void }>

/** How long actions usually take, as seen so far. */
type Pace = { usualMs: number }

/**
 * Waits for actions. A single call asks for all that run, because polling a hundred moves one by one would use up the
 * rate limit.
 */
function makeActions(read: ReadActions): Actions {
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

/** Only a failed action's error means anything. */
function judge({ id, status, error }: Fields): void {
  if (status === 'success') return
  const { message, code } = fieldsOf(error)
  const text = `${textOf(message) ?? 'no reason'} (${textOf(code) ?? 'no code'})`
  throw actionError(`${String(id)} failed: ${text}`, /locked/.test(text) ? 'conflict' : 'unavailable')
}

/** Only a look at the address tells what an action did before it failed. */
function actionError(text: string, fault: CloudError['fault'] = 'unavailable'): CloudError {
  return new CloudError(`${vendor}: action ${text}`, { fault, outcome: 'unknown' })
}
