import type { KubeClient } from '../../kube/client.ts'
import { type Clock, systemClock } from '../../kube/clock.ts'
import { isConflict } from '../../kube/errors.ts'
import type { Log } from '../../kube/log.ts'
import { recentRead } from '../../lib/recent-read.ts'
import { mutatingWebhookConfigurations, secrets, validatingWebhookConfigurations } from '../../kube/resource.ts'
import { names } from '../../settings/installed-names.ts'
import { newPathSecret, segmentsOf, withSegments } from './path-secret.ts'
import { type PathSegments, type RotationPace, planSegments, segmentPatch } from './rotation.ts'

const fieldManager = 'eip-admission-paths'

const configurations = [
  { resource: mutatingWebhookConfigurations, name: names.mutatingConfiguration },
  { resource: validatingWebhookConfigurations, name: names.validatingConfiguration },
]

/** How old an answer may be that was read for another unknown path, and how long a caller waits for one. */
const againMs = 1_000
const readMs = 2_000

/** The secret paths of the webhooks, which change now and then. */
export type WebhookPaths = {
  /** The segments that a caller may know. */
  accepted(): string[]
  /**
   * Reads the Secret, unless that was just done: a caller knows what we do not. API servers follow a change of the path at
   * once, and many wrong guesses cost no more than one read in a second.
   */
  readAgain(): Promise<void>
  /** Follows the Secret, and takes the steps of a rotation where this replica may, until the signal aborts. */
  start(signal: AbortSignal): void
}

export type WebhookPathsOptions = {
  client: KubeClient
  log: Log
  namespace: string
  segments: PathSegments
  pace: RotationPace
  /** Whether this replica rotates. The first write to the Secret counts. */
  mayRotate: () => boolean
  clock?: Clock
}

/** Follows the path segments of the installation from those that were read at the start. */
export function webhookPaths({ clock = systemClock, ...options }: WebhookPathsOptions): WebhookPaths {
  const { client, log, namespace, pace } = options
  let { segments } = options
  let replaced: { segment: string; untilMs: number } | undefined
  const take = (read: PathSegments | undefined) => {
    if (!read) return
    // A person changes the Secret and the configurations one after another: until then they have the former path.
    if (![read.current, read.previous].includes(segments.current))
      replaced = { segment: segments.current, untilMs: clock.now() + pace.checkMs }
    segments = read
  }
  const warn = (error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    log.warn({ error: reason }, 'the paths of the webhooks could not be checked')
  }
  const again = recentRead({
    read: async (signal) => readSegments({ client, namespace }, signal).then(take, warn),
    now: () => clock.now(),
  })
  const follow = async (signal: AbortSignal) => {
    for (;;) {
      await clock.sleep(pace.checkMs, signal)
      if (signal.aborted) return
      try {
        take(await check(options, clock.date().getTime(), signal))
      } catch (error) {
        if (isConflict(error)) log.debug({ error: error.message }, 'another program was first')
        else if (!signal.aborted) warn(error)
      }
    }
  }
  return {
    accepted() {
      const former = replaced && clock.now() < replaced.untilMs ? replaced.segment : undefined
      return [segments.current, segments.next, segments.previous, former].filter((segment) => segment !== undefined)
    },
    readAgain: () => again.within(againMs, AbortSignal.timeout(readMs)),
    start: (signal) => void follow(signal),
  }
}

async function readSegments(
  { client, namespace }: Pick<WebhookPathsOptions, 'client' | 'namespace'>,
  signal: AbortSignal,
): Promise<PathSegments | undefined> {
  const stored = await client.get(secrets, { namespace, name: names.webhookSecret }, { signal })
  return stored && segmentsOf(stored)
}

/** Reads the segments and takes the step that is due. Undefined if the Secret has none: those that we know stay. */
async function check(
  { client, log, namespace, pace, mayRotate }: WebhookPathsOptions,
  nowMs: number,
  signal: AbortSignal,
): Promise<PathSegments | undefined> {
  const stored = await client.get(secrets, { namespace, name: names.webhookSecret }, { signal })
  const segments = stored && segmentsOf(stored)
  if (!segments || !mayRotate()) return segments
  const areConfigured = await configure(client, segments.current, signal)
  if (!areConfigured) log.info({}, 'the path of the webhooks was written into their configurations')
  const after = planSegments(segments, { nowMs, pace, areConfigured, newSegment: newPathSecret })
  if (!after) return segments
  await client.replace(secrets, withSegments(stored, after), { signal, fieldManager })
  log.info({ secret: `${namespace}/${names.webhookSecret}` }, 'the path of the webhooks changes')
  return after
}

/** Writes the segment into both configurations, also where an old install left another one. True if it was there. */
async function configure(client: KubeClient, segment: string, signal: AbortSignal): Promise<boolean> {
  let wasThere = true
  for (const { resource, name } of configurations) {
    const json = segmentPatch(await client.get(resource, { name }, { signal }), segment)
    if (json.length === 0) continue
    wasThere = false
    await client.patch(resource, { name, patch: { json } }, { signal, fieldManager })
  }
  return wasThere
}
