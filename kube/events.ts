import { randomBytes } from 'node:crypto'
import type { KubeClient } from './client.ts'
import { KubeError, isAlreadyExists, isNotFound } from './errors.ts'
import type { Log } from './log.ts'
import { type KubeEvent, type KubeObject, keyOf } from './objects.ts'
import { events } from './resource.ts'

/** One occurrence of an event. */
export type Occurrence<Reason extends string = string> = { type: KubeEvent['type']; reason: Reason; message: string }

/** A recorder that knows its reasons refuses every other one when the types are checked. */
export type EventRecorder<Reason extends string = string> = {
  /** Records an event about an object. Returns at once and never throws; a failed write is logged. */
  record: (object: KubeObject, occurrence: Occurrence<Reason>) => void
  /** Resolves when all events recorded so far are written or dropped. */
  written: () => Promise<void>
}

export type EventRecorderOptions = {
  client: Pick<KubeClient, 'create' | 'patch'>
  /** The program that reports, and its replica. */
  component: string
  instance: string
  log: Log
  /** The annotations of each new Event. */
  annotations?: () => Record<string, string> | undefined
  now?: () => Date
}

/** All occurrences that share one Event: the Event as it shall be, and whether the API server has it. */
type Series = { event: KubeEvent; isStored: boolean }

const maxSeries = 1_000
const maxPending = 200
/** Beyond this number, similar events (same object, type and reason) aggregate in one Event with the latest message. */
const maxSimilar = 10
const maxMessageLength = 1_024

/**
 * A recorder of core/v1 Events, correlated as client-go does it: a repeated event raises the count of its Event. It
 * writes one Event at a time. By hand, because client-node has no event recorder.
 */
export function eventRecorder({ client, log, now = () => new Date(), ...source }: EventRecorderOptions): EventRecorder {
  const known = new Map<string, Series>()
  const pending = new Set<Series>()
  let writing: Promise<void> | undefined

  const remember = (key: string, series: Series) => {
    // Deleting it first moves the series to the end of the map, so the first one is the least recently used.
    known.delete(key)
    known.set(key, series)
    if (known.size > maxSeries) known.delete(known.keys().next().value ?? '')
  }
  const writePending = async () => {
    for (const series of pending) {
      pending.delete(series)
      await write(client, series, log)
    }
    writing = undefined
  }

  return {
    record(object, occurrence) {
      const key = correlationKey(known, object, occurrence)
      const series = known.get(key) ?? { event: newEvent(object, source), isStored: false }
      if (pending.size >= maxPending && !pending.has(series)) {
        log.debug({ about: keyOf(object), reason: occurrence.reason }, 'event dropped: too many are pending')
        return
      }
      count(series.event, occurrence, now())
      remember(key, series)
      pending.add(series)
      writing ??= writePending()
    },
    written: async () => writing,
  }
}

/** The key of the series that an occurrence belongs to: its own message's, or that of all similar events. */
function correlationKey(known: Map<string, Series>, object: KubeObject, { type, reason, message }: Occurrence): string {
  const aggregateKey = `${object.metadata.uid ?? `${object.kind} ${keyOf(object)}`} ${type} ${reason} `
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
    // The Events of objects without a namespace live in `default`.
    metadata: { name: eventName(name), namespace: namespace ?? 'default', ...(annotations && { annotations }) },
    involvedObject: {
      apiVersion: object.apiVersion,
      kind: object.kind,
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
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

async function write(client: EventRecorderOptions['client'], series: Series, log: Log): Promise<void> {
  const { event } = series
  try {
    if (series.isStored) series.isStored = await patchCount(client, event)
    if (!series.isStored) await create(client, event)
    series.isStored = true
  } catch (error) {
    // The API server refuses Events in a namespace that is being deleted, which is normal.
    const isExpected = error instanceof KubeError && error.status === 403
    const fields = { about: event.involvedObject, reason: event.reason, error: String(error) }
    log[isExpected ? 'debug' : 'warn'](fields, 'event not written')
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

/** Writes the count of a stored Event. False if the Event has expired: the API server keeps it for an hour. */
async function patchCount(client: EventRecorderOptions['client'], event: KubeEvent): Promise<boolean> {
  const { namespace, name } = event.metadata
  const { count, lastTimestamp, message } = event
  try {
    await client.patch(events, { namespace, name, patch: { merge: { count, lastTimestamp, message } } })
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}
