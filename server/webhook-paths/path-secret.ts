import { randomBytes } from 'node:crypto'
import type { KubeClient } from '../../kube/client.ts'
import type { Log } from '../../kube/log.ts'
import type { Secret } from '../../kube/objects.ts'
import { secrets } from '../../kube/resource.ts'
import { names } from '../../manifests/names.ts'
import { retryUntilAnswered } from '../retry-until-answered.ts'
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

/** Waits until the path segment is installed. */
export function awaitPathSegments(
  client: KubeClient,
  { namespace, log, signal }: { namespace: string; log: Log; signal: AbortSignal },
): Promise<PathSegments> {
  const read = async () => {
    const secret = await client.get(secrets, { namespace, name: names.webhookSecret }, { signal })
    const found = secret && segmentsOf(secret)
    if (found) return found
    throw new Error(`Secret ${namespace}/${names.webhookSecret} does not exist: run eip-admission install`)
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
