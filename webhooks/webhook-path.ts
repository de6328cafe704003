import { repeatLater } from '../lib/repeat.ts'
import type { KubeClient } from '../kube/client.ts'
import { type Clock, systemClock } from '../kube/clock.ts'
import { isConflict } from '../kube/errors.ts'
import type { Log } from '../kube/log.ts'
import type { WebhookConfiguration, Secret } from '../kube/objects.ts'
import { mutatingWebhookConfigurations, validatingWebhookConfigurations, secrets } from '../kube/resource.ts'
import { recentRead } from '../lib/recent-read.ts'
import { names } from '../settings/installed-names.ts'
import { randomBytes } from 'node:crypto'
import { retryUntilAnswered } from '../kube/connect.ts'

const fieldManager = 'eip-admission-paths'

const configurations = [
  { resource: mutatingWebhookConfigurations, name: names.mutatingConfiguration },
  { resource: validatingWebhookConfigurations, name: names.validatingConfiguration },
]

/** How often each replica reads the Secret. */
const checkMs = 10_000
/** How long the previous path is accepted. The leader configures the new one at its next look, and API servers watch that. */
const overlapMs = 60_000
/** The maximum age of an answer that was read for another unknown path, and how long a caller waits for one. */
const againMs = 1_000
const readMs = 2_000

/** The secret path of the webhooks, which a person or Helm may change in the Secret. */
export type WebhookPath = {
  /** The segments that callers may use. */
  accepted(): string[]
  /**
   * Reads the Secret, unless that was just done, because a caller knows a path that we do not. API servers follow a
   * change at once. However many guesses arrive, they cost at most one read per second.
   */
  readAgain(): Promise<void>
  /** Follows the Secret until the signal aborts, and repairs the configurations if this replica may. */
  start(signal: AbortSignal): void
}

export type WebhookPathOptions = {
  client: KubeClient
  log: Log
  namespace: string
  /** The segment at startup. */
  segment: string
  /** Whether this replica writes the webhook configurations. */
  mayConfigure: () => boolean
  clock?: Clock
}

/** Follows the path segment of the installation, from the one that was read at startup. */
export function webhookPath({ clock = systemClock, ...options }: WebhookPathOptions): WebhookPath {
  const { client, log, namespace, mayConfigure } = options
  let { segment } = options
  let replaced: { segment: string; untilMs: number } | undefined
  const read = async (signal: AbortSignal) => {
    const found = await readPathSecret(client, namespace, signal)
    // A deleted or empty Secret means nothing: the known path is kept.
    if (found === undefined || found === segment) return
    replaced = { segment, untilMs: clock.now() + overlapMs }
    segment = found
  }
  const warn = (error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    log.warn({ error: reason }, 'the path of the webhooks could not be checked')
  }
  const again = recentRead({ read: (signal) => read(signal).catch(warn), now: () => clock.now() })
  const follow = async (signal: AbortSignal) => {
    try {
      await read(signal)
      if (mayConfigure()) await configure(options, segment, signal)
    } catch (error) {
      if (isConflict(error)) log.debug({ error: error.message }, 'another program wrote first')
      else if (!signal.aborted) warn(error)
    }
  }
  return {
    accepted: () => (replaced && clock.now() < replaced.untilMs ? [segment, replaced.segment] : [segment]),
    readAgain: () => again.within(againMs, AbortSignal.timeout(readMs)),
    start: (signal) => void repeatLater(follow, { everyMs: checkMs, signal, clock }),
  }
}

/** Writes the segment into both configurations, even if an old install left another one there. */
async function configure(
  { client, log }: Pick<WebhookPathOptions, 'client' | 'log'>,
  segment: string,
  signal: AbortSignal,
): Promise<void> {
  for (const { resource, name } of configurations) {
    const json = segmentPatch(await client.get(resource, { name }, { signal }), segment)
    if (json.length === 0) continue
    await client.patch(resource, { name, patch: { json } }, { signal, fieldManager })
    log.info({ configuration: name }, 'the path of the webhooks was written into a configuration')
  }
}

/**
 * The JSON Patch for webhooks whose path begins with another segment; empty if there are none. It contains the
 * resourceVersion, so it fails if the configuration has changed meanwhile. That makes it safe to address webhooks by index.
 */
export function segmentPatch(stored: WebhookConfiguration | undefined, segment: string): object[] {
  const changes = (stored?.webhooks ?? []).flatMap(({ clientConfig: { service, url } }, index) => {
    const at = `/webhooks/${index}/clientConfig`
    const place = service ? { path: `${at}/service/path`, value: service.path } : { path: `${at}/url`, value: url }
    const wanted = place.value?.replace(firstSegment, `$<before>${segment}/`)
    return wanted === undefined || wanted === place.value ? [] : [{ op: 'replace', path: place.path, value: wanted }]
  })
  if (changes.length === 0) return []
  return [{ op: 'replace', path: '/metadata/resourceVersion', value: stored?.metadata.resourceVersion }, ...changes]
}

/** The first segment of a path, or of the path of a URL. */
const firstSegment = /^(?<before>(?:https?:\/\/[^/]+)?\/)[^/]+\//

/** Makes a path segment that cannot be guessed. */
export function newPathSecret(): string {
  return randomBytes(16).toString('hex')
}

/** The installed path segment; undefined before the first install. */
export async function readPathSecret(
  client: KubeClient,
  namespace: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const secret = await client.get(secrets, { namespace, name: names.webhookSecret }, signal && { signal })
  return secret && segmentOf(secret)
}

/**
 * The path segment of the installation. A manifest cannot contain a secret. So if none is installed, the first replica
 * makes one, and the leader writes it into the webhook configurations.
 */
export function awaitPathSecret(
  client: KubeClient,
  { namespace, log, signal }: { namespace: string; log: Log; signal: AbortSignal },
): Promise<string> {
  const place = `Secret ${namespace}/${names.webhookSecret}`
  const read = async () => {
    const secret = await client.get(secrets, { namespace, name: names.webhookSecret }, { signal })
    const found = secret && segmentOf(secret)
    if (found !== undefined) return found
    if (secret) throw new Error(`${place} has no key path: delete the Secret`)
    const made: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: names.webhookSecret, namespace },
      data: { path: Buffer.from(newPathSecret()).toString('base64') },
    }
    const created = segmentOf(await client.create(secrets, made, { signal }))
    log.info({ secret: place }, 'a secret path for the webhooks was generated')
    if (created !== undefined) return created
    throw new Error(`${place} was stored without its path`)
  }
  return retryUntilAnswered(read, { what: 'the installation', log, signal })
}

function segmentOf({ data = {} }: Secret): string | undefined {
  return Buffer.from(data['path'] ?? '', 'base64').toString() || undefined
}
