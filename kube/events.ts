import { randomBytes } from 'node:crypto'
import type { KubeClient } from './client.ts'
import { KubeError, isAlreadyExists, isNotFound, resultUnless } from './errors.ts'
import type { Log } from './log.ts'
import { type KubeEvent, type KubeObject, keyOf } from './objects.ts'
import { events } from './resource.ts'
import { defined } from '../lib/json.ts'

export type Occurrence<Reason extends string = string> = { type: KubeEvent['type']; reason: Reason; message: string }

/** Records Events. The type checker refuses reasons outside the recorder's list. */
export type EventRecorder<Reason extends string = string> = {
  /** Records an event about an object. Returns at once and never throws; a failed write is logged. */
  record: (object: KubeObject, occurrence: Occurrence<Reason>) => void
  /** Resolves when all events recorded so far are written or dropped. */
  written: () => Promise<void>
}

export type EventRecorderOptions = {
  client: Pick<KubeClient, 'create' | 'patch'>
  /** The reporting program, and its replica. */
  component: string
  instance: string
  log: Log
  /** The annotations of each new Event. */
  annotations?: () => Record<string, string> | undefined
  now?: () => Date
}

/** All occurrences that share an Event: the Event as we want it, and whether the API server has it. */
type Series = { event: KubeEvent; isStored: boolean; subject: Subject }

/** The messages already recorded for an object, and how many Events it may still get. */
type Subject = { tokens: number; filledAtMs: number; told: Map<string, Told>; order: number; lastNormal: number }

/** The last occurrence of a reason; `order` is its position among all occurrences of the object. */
type Told = { message: string; order: number; atMs: number }

const maxSeries = 1_000
/** As many as client-go remembers. */
const maxSubjects = 4_096
/** The limit of client-go for one object: this many Events at once, then one each five minutes. */
const burst = 25
const refillMs = 300_000
/** A lasting state is recorded again after this time, because the API server deletes an Event after an hour. */
const repeatedAfterMs = 1_800_000
const maxPending = 200
/** Beyond this number, similar events (same object, type and reason) share one Event, with the latest message. */
const maxSimilar = 10
const maxMessageLength = 1_024

/**
 * A recorder of core/v1 Events, correlated and limited as in client-go: a repeated event raises the count of its Event.
 * But a mere repetition by a poll is not written. It is hand-written because client-node has no event recorder.
 */
export function eventRecorder({ client, log, now = () => new Date(), ...source }: EventRecorderOptions): EventRecorder {
  const known = new Map<string, Series>()
  const subjects = new Map<string, Subject>()
  const pending = new Set<Series>()
  let writing: Promise<void> | undefined

  const writePending = async () => {
    for (const series of pending) {
      pending.delete(series)
      // An event that was not written is no repetition when it is recorded again.
      if (!(await write(client, series, log))) series.subject.told.delete(`${series.event.type} ${series.event.reason}`)
    }
    writing = undefined
  }

  return {
    record(object, occurrence) {
      const nowMs = now().getTime()
      const subject = subjects.get(subjectOf(object)) ?? newSubject(nowMs)
      remember(subjects, { key: subjectOf(object), value: subject, max: maxSubjects })
      if (isRepetition(subject, occurrence, nowMs)) return
      const key = correlationKey(known, object, occurrence)
      const series = known.get(key) ?? { event: newEvent(object, source), isStored: false, subject }
      const isWaiting = pending.has(series)
      if (pending.size >= maxPending && !isWaiting) {
        log.debug({ about: keyOf(object), reason: occurrence.reason }, 'event dropped: too many are pending')
        return
      }
      count(series.event, occurrence, now())
      remember(known, { key, value: series, max: maxSeries })
      if (!isWaiting && !takeToken(subject, nowMs)) {
        log.debug({ about: keyOf(object), reason: occurrence.reason }, 'event not written: its object has too many')
        return
      }
      noteTold(subject, occurrence, nowMs)
      pending.add(series)
      writing ??= writePending()
    },
    written: async () => writing,
  }
}

/** Makes an entry the most recently used, and deletes the least recently used one beyond the maximum. */
function remember<T>(map: Map<string, T>, { key, value, max }: { key: string; value: T; max: number }): void {
  // Deleting it first moves the entry to the end of the map.
  map.delete(key)
  map.set(key, value)
  if (map.size > max) map.delete(map.keys().next().value ?? '')
}

function subjectOf(object: KubeObject): string {
  return object.metadata.uid ?? `${object.kind} ${keyOf(object)}`
}

function newSubject(nowMs: number): Subject {
  return { tokens: burst, filledAtMs: nowMs, told: new Map(), order: 0, lastNormal: 0 }
}

/**
 * Whether the object's last message for this reason was the same. After another Normal Event it is news: something
 * ended in between, and has begun again.
 */
function isRepetition({ told, lastNormal }: Subject, { type, reason, message }: Occurrence, nowMs: number): boolean {
  const last = told.get(`${type} ${reason}`)
  return last?.message === message && lastNormal <= last.order && passedMs(last.atMs, nowMs) < repeatedAfterMs
}

function noteTold(subject: Subject, { type, reason, message }: Occurrence, atMs: number): void {
  subject.order += 1
  subject.told.set(`${type} ${reason}`, { message, order: subject.order, atMs })
  if (type === 'Normal') subject.lastNormal = subject.order
}

/** A date that was set back has passed, too: otherwise the object would get no Event until the old date is reached. */
function passedMs(fromMs: number, toMs: number): number {
  return Math.abs(toMs - fromMs)
}

/** Takes an Event from the object's budget; false if nothing is left. */
function takeToken(subject: Subject, nowMs: number): boolean {
  subject.tokens = Math.min(burst, subject.tokens + passedMs(subject.filledAtMs, nowMs) / refillMs)
  subject.filledAtMs = nowMs
  if (subject.tokens < 1) return false
  subject.tokens -= 1
  return true
}

/** The key of an occurrence's series: its own message, or the key of all similar events. */
function correlationKey(known: Map<string, Series>, object: KubeObject, { type, reason, message }: Occurrence): string {
  const aggregateKey = `${subjectOf(object)} ${type} ${reason} `
  const key = aggregateKey + message
  if (known.has(key)) return key
  const similar = [...known.keys()].filter((other) => other.startsWith(aggregateKey)).length
  return similar < maxSimilar ? key : aggregateKey
}

type Source = Pick<EventRecorderOptions, 'component' | 'instance' | 'annotations'>

function newEvent(object: KubeObject, { component, instance, annotations: annotationsNow }: Source): KubeEvent {
  const { name, namespace, uid, resourceVersion } = object.metadata
  const annotations = annotationsNow?.()
  return {
    apiVersion: 'v1',
    kind: 'Event',
    // The Events of cluster-scoped objects live in `default`.
    metadata: { name: eventName(name), namespace: namespace ?? 'default', ...(annotations && { annotations }) },
    involvedObject: {
      apiVersion: object.apiVersion,
      kind: object.kind,
      name,
      ...defined({ namespace, uid, resourceVersion }),
    },
    type: 'Normal',
    reason: '',
    message: '',
    count: 0,
    firstTimestamp: '',
    lastTimestamp: '',
    source: { component },
    reportingComponent: component,
    reportingInstance: instance,
  }
}

function eventName(name: string): string {
  return `${name.slice(0, 230).replace(/[-.]+$/, '')}.${randomBytes(8).toString('hex')}`
}

/** Adds an occurrence to its Event. */
function count(event: KubeEvent, { type, reason, message }: Occurrence, now: Date): void {
  const time = now.toISOString().replace(/\.\d+Z$/, 'Z')
  event.type = type
  event.reason = reason
  event.message = message.length > maxMessageLength ? `${message.slice(0, maxMessageLength - 1)}…` : message
  event.count += 1
  event.firstTimestamp ||= time
  event.lastTimestamp = time
}

/** Writes an Event; false if that failed. */
async function write(client: EventRecorderOptions['client'], series: Series, log: Log): Promise<boolean> {
  const { event } = series
  try {
    if (series.isStored) series.isStored = await patchCount(client, event)
    if (!series.isStored) await create(client, event)
    series.isStored = true
    return true
  } catch (error) {
    // The API server refuses Events in a namespace that is being deleted, which is normal.
    const isExpected = error instanceof KubeError && error.status === 403
    const fields = { about: event.involvedObject, reason: event.reason, error: String(error) }
    log[isExpected ? 'debug' : 'warn'](fields, 'event not written')
    return false
  }
}

async function create(client: EventRecorderOptions['client'], event: KubeEvent): Promise<void> {
  try {
    await client.create(events, event)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    // The answer to an earlier create was lost.
    await patchCount(client, event)
  }
}

/** Writes the count of a stored Event; false if the Event has expired, which the API server does after an hour. */
async function patchCount(client: EventRecorderOptions['client'], event: KubeEvent): Promise<boolean> {
  const { namespace, name } = event.metadata
  const { count, lastTimestamp, message } = event
  const patch = { merge: { count, lastTimestamp, message } }
  const isPatched = client.patch(events, { namespace, name, patch }).then(() => true)
  return resultUnless(isNotFound, isPatched, false)
}
