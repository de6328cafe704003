import { randomBytes } from 'node:crypto'
import type { KubeClient } from './client.ts'
import { KubeError, isNotFound } from './errors.ts'
import type { Log } from './log.ts'
import { type KubeEvent, type KubeObject, keyOf } from './objects.ts'
import { events } from './resource.ts'

export type Happening = { type: KubeEvent['type']; reason: string; message: string }

export type EventRecorder = {
  /** Tells people what happened to an object. Answers at once and never throws; what cannot be written is logged. */
  record: (object: KubeObject, happening: Happening) => void
  /** Resolves when everything recorded so far is written or given up. */
  written: () => Promise<void>
}

export type EventRecorderOptions = {
  client: Pick<KubeClient, 'create' | 'patch'>
  /** Which program speaks, and which replica of it. */
  component: string
  instance: string
  log: Log
  now?: () => Date
}

/** What happened to one object for one reason, however often, and how much of that the API server knows. */
type Story = { event: KubeEvent; isStored: boolean }

const maxStories = 1_000
const maxUnwritten = 200
/** From here on, different words about the same object and reason share one Event that shows the latest. */
const maxAlike = 10
const longestMessage = 1_024

/** A recorder of core/v1 Events: what happens again raises the count of its Event, one write at a time. */
export function eventRecorder({
  client,
  log,
  now = () => new Date(),
  ...speaker
}: EventRecorderOptions): EventRecorder {
  const stories = new Map<string, Story>()
  const unwritten = new Set<Story>()
  let writing: Promise<void> | undefined

  const remember = (key: string, story: Story) => {
    // Deleted and set again, so that the first of the map is the one that was told longest ago.
    stories.delete(key)
    stories.set(key, story)
    if (stories.size > maxStories) stories.delete(stories.keys().next().value ?? '')
  }
  const writeAll = async () => {
    for (const story of unwritten) {
      unwritten.delete(story)
      await write(client, story, log)
    }
    writing = undefined
  }

  return {
    record(object, happening) {
      const key = storyKey(stories, object, happening)
      const story = stories.get(key) ?? { event: newEvent(object, speaker), isStored: false }
      if (unwritten.size >= maxUnwritten && !unwritten.has(story)) {
        log.debug({ about: keyOf(object), reason: happening.reason }, 'event dropped: too many wait')
        return
      }
      tellAgain(story.event, happening, now())
      remember(key, story)
      unwritten.add(story)
      writing ??= writeAll()
    },
    written: async () => writing,
  }
}

function storyKey(stories: Map<string, Story>, object: KubeObject, { type, reason, message }: Happening): string {
  const about = `${object.metadata.uid ?? `${object.kind} ${keyOf(object)}`} ${type} ${reason} `
  const key = about + message
  if (stories.has(key)) return key
  const alike = [...stories.keys()].filter((known) => known.startsWith(about)).length
  return alike < maxAlike ? key : about
}

function newEvent(object: KubeObject, { component, instance }: { component: string; instance: string }): KubeEvent {
  const { name, namespace, uid, resourceVersion } = object.metadata
  return {
    apiVersion: 'v1',
    kind: 'Event',
    // Events about objects without a namespace live in this one.
    metadata: { name: eventName(name), namespace: namespace ?? 'default' },
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

function tellAgain(event: KubeEvent, { type, reason, message }: Happening, now: Date): void {
  const time = now.toISOString().replace(/\.\d+Z$/, 'Z')
  event.type = type
  event.reason = reason
  event.message = message.length > longestMessage ? `${message.slice(0, longestMessage - 1)}…` : message
  event.count += 1
  event.firstTimestamp ||= time
  event.lastTimestamp = time
}

async function write(client: EventRecorderOptions['client'], story: Story, log: Log): Promise<void> {
  const { event } = story
  try {
    if (story.isStored) story.isStored = await raiseCount(client, event)
    if (!story.isStored) await client.create(events, event)
    story.isStored = true
  } catch (error) {
    // A namespace that is being deleted takes no Events any more; that is nobody's fault.
    const isUsual = error instanceof KubeError && error.status === 403
    const fields = { about: event.involvedObject, reason: event.reason, error: String(error) }
    log[isUsual ? 'debug' : 'warn'](fields, 'event not written')
  }
}

/** False if the Event is gone: the API server forgets it after an hour. */
async function raiseCount(client: EventRecorderOptions['client'], event: KubeEvent): Promise<boolean> {
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
