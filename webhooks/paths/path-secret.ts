import { randomBytes } from 'node:crypto'
import type { KubeClient } from '../../kube/client.ts'
import type { Log } from '../../kube/log.ts'
import type { Secret } from '../../kube/objects.ts'
import { secrets } from '../../kube/resource.ts'
import { names } from '../../settings/installed-names.ts'
import { retryUntilAnswered } from '../../kube/retry-until-answered.ts'
import type { PathSegments } from './rotation.ts'

/** A new path segment that cannot be guessed. */
export function newPathSecret(): string {
  return randomBytes(16).toString('hex')
}

/** The installed path segment; undefined before the first install. */
export async function readPathSecret(client: KubeClient, namespace: string): Promise<string | undefined> {
  const secret = await client.get(secrets, { namespace, name: names.webhookSecret })
  return secret && segmentsOf(secret)?.current
}

/** `mayMake`: whether this process may make a path that is not installed, because it also writes the configurations. */
type PathWaiting = { namespace: string; mayMake: boolean; log: Log; signal: AbortSignal }

/**
 * The path segments of the installation. A manifest cannot hold a secret: where none is installed, the first replica makes
 * one, and the leader writes it into the webhook configurations.
 */
export function awaitPathSegments(
  client: KubeClient,
  { namespace, mayMake, log, signal }: PathWaiting,
): Promise<PathSegments> {
  const read = async () => {
    const secret = await client.get(secrets, { namespace, name: names.webhookSecret }, { signal })
    const found = secret && segmentsOf(secret)
    if (found) return found
    const place = `Secret ${namespace}/${names.webhookSecret}`
    if (secret) throw new Error(`${place} has no key path: delete the Secret`)
    if (!mayMake)
      throw new Error(
        `${place} does not exist: run eip-admission install with --namespace=${namespace}, or helm upgrade`,
      )
    const metadata = { name: names.webhookSecret, namespace }
    const made: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      data: { path: Buffer.from(newPathSecret()).toString('base64') },
    }
    const created = segmentsOf(await client.create(secrets, made, { signal }))
    log.info({ secret: place }, 'a secret path of the webhooks was made')
    if (created) return created
    throw new Error(`${place} was stored without its path`)
  }
  return retryUntilAnswered(read, { what: 'the installation', log, signal })
}

/** The path segments that the Secret holds; undefined if it has none. */
export function segmentsOf({ data = {}, metadata }: Secret): PathSegments | undefined {
  const text = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString() || undefined
  const current = text('path')
  if (current === undefined) return undefined
  const sinceMs = Date.parse(text('since') ?? metadata.creationTimestamp ?? '') || 0
  return { current, next: text('next'), previous: text('previous'), sinceMs }
}

/** The Secret with these path segments. All other fields of the stored Secret stay. */
export function withSegments(stored: Secret, { current, next, previous, sinceMs }: PathSegments): Secret {
  const { next: _next, previous: _previous, ...kept } = stored.data ?? {}
  const texts = { path: current, next, previous, since: new Date(sinceMs).toISOString() }
  const encoded = Object.entries(texts).flatMap(([key, text]) =>
    text === undefined ? [] : [[key, Buffer.from(text).toString('base64')]],
  )
  return { ...stored, data: { ...kept, ...Object.fromEntries(encoded) } }
}
