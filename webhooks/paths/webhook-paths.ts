import type { KubeClient } from '../../kube/client.ts'
import { type Clock, systemClock } from '../../kube/clock.ts'
import { isConflict } from '../../kube/errors.ts'
import type { Log } from '../../kube/log.ts'
import { mutatingWebhookConfigurations, secrets, validatingWebhookConfigurations } from '../../kube/resource.ts'
import { names } from '../../settings/installed-names.ts'
import { newPathSecret, segmentsOf, withSegments } from './path-secret.ts'
import { type PathSegments, type RotationPace, planSegments, segmentPatch } from './rotation.ts'

const fieldManager = 'eip-admission-paths'

const configurations = [
  { resource: mutatingWebhookConfigurations, name: names.mutatingConfiguration },
  { resource: validatingWebhookConfigurations, name: names.validatingConfiguration },
]

/** The secret paths of the webhooks, which change now and then. */
export type WebhookPaths = {
  /** The segments that a caller may know. */
  accepted(): string[]
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
  const { log, pace } = options
  let { segments } = options
  const follow = async (signal: AbortSignal) => {
    for (;;) {
      await clock.sleep(pace.checkMs, signal)
      if (signal.aborted) return
      try {
        segments = (await check(options, clock.date().getTime(), signal)) ?? segments
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        if (isConflict(error)) log.debug({ error: reason }, 'another program was first')
        else if (!signal.aborted) log.warn({ error: reason }, 'the paths of the webhooks could not be checked')
      }
    }
  }
  return {
    accepted: () => [segments.current, segments.next, segments.previous].filter((segment) => segment !== undefined),
    start: (signal) => void follow(signal),
  }
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
