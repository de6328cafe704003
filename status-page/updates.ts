import type { ServerResponse } from 'node:http'
import type { Log } from '../kube/log.ts'
import { renderSection } from './render.ts'
import type { Section } from './section.ts'

/** Browsers that get a section when it changes. */
export type Updates = {
  /** Whether another reader is welcome: no longer when we stop. */
  hasRoom(): boolean
  /** Sends every section, then those that change. */
  add(response: ServerResponse): void
  /** Ends all streams. */
  stop(): void
}

export type UpdatesOptions = {
  model: (nowMs: number) => Section[]
  log: Log
  now?: () => number
  periodMs?: number
  /** A stream ends after this time, and the browser comes again: its token may be another one by then. */
  maxStreamMs?: number
}

/** More people do not look at one replica, and each is sent the whole page at first. */
export const maxReaders = 10

/** A reader who hears nothing for longer knows that the process has stopped. */
const pingMs = 5_000
const minuteMs = 60_000

/** A section as it was sent last, and by which number readers know it. */
type Sent = { text: string; version: number; message: string }

type Reader = { response: ServerResponse; versions: Map<string, number>; sinceMs: number; wroteAtMs: number }

/** Nobody reads yet. It works only while somebody does. */
export function updates(options: UpdatesOptions): Updates {
  const { model, log, now = Date.now, periodMs = 2_000, ...patience } = options
  const readers = new Set<Reader>()
  const sent = new Map<string, Sent>()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  const remove = (reader: Reader) => {
    readers.delete(reader)
    if (readers.size > 0) return
    clearInterval(timer)
    timer = undefined
    sent.clear()
  }
  const tick = () => {
    const nowMs = now()
    try {
      for (const section of model(nowMs)) remember(sent, section, nowMs)
    } catch (error) {
      // A timer that throws would end the process.
      log.error({ error }, 'status page not built')
    }
    for (const reader of readers) serve(reader, sent, { nowMs, ...patience })
  }

  return {
    hasRoom: () => !isStopped && readers.size < maxReaders,
    add(response) {
      const reader = { response, versions: new Map<string, number>(), sinceMs: now(), wroteAtMs: now() }
      readers.add(reader)
      response.once('close', () => remove(reader))
      response.write('retry: 3000\n\n')
      timer ??= setInterval(tick, periodMs)
      tick()
    },
    stop() {
      isStopped = true
      for (const { response } of readers) response.end()
    },
  }
}

type Patience = { nowMs: number; maxStreamMs?: number }

/** A reader who takes nothing for so long is gone. */
const patienceMs = 30_000

/** Sends what is new, unless the reader has to go or is slow. */
function serve(reader: Reader, sent: ReadonlyMap<string, Sent>, patience: Patience): void {
  const { nowMs, maxStreamMs = 600_000 } = patience
  const { response, sinceMs, wroteAtMs } = reader
  if (response.writableNeedDrain && nowMs - wroteAtMs > patienceMs) response.destroy()
  else if (nowMs - sinceMs > maxStreamMs) response.end()
  else if (!response.writableNeedDrain) send(reader, sent, nowMs)
}

/** Renders a section again if it has changed. Ages are in minutes, so it has also changed when a minute has passed. */
function remember(sent: Map<string, Sent>, section: Section, nowMs: number): void {
  const text = `${Math.floor(nowMs / minuteMs)} ${JSON.stringify(section)}`
  const before = sent.get(section.id)
  if (before?.text === text) return
  const data = JSON.stringify({ id: section.id, html: renderSection(section, nowMs) })
  // JSON has no line breaks, which would end the data.
  sent.set(section.id, { text, version: (before?.version ?? 0) + 1, message: `event: section\ndata: ${data}\n\n` })
}

/** Sends what this reader does not have yet: one who was slow gets only the newest. */
function send(reader: Reader, sent: ReadonlyMap<string, Sent>, nowMs: number): void {
  const news = [...sent].filter(([id, { version }]) => reader.versions.get(id) !== version)
  for (const [id, { version }] of news) reader.versions.set(id, version)
  if (news.length === 0 && nowMs - reader.wroteAtMs < pingMs) return
  reader.wroteAtMs = nowMs
  reader.response.write(news.length === 0 ? 'event: alive\ndata:\n\n' : news.map(([, { message }]) => message).join(''))
}
