import { randomBytes } from 'node:crypto'
import type { KubeClient } from '../kube/client.ts'
import type { Log } from '../kube/log.ts'
import { secrets } from '../kube/resource.ts'
import { names } from '../manifests/names.ts'
import { retryUntilAnswered } from './retry-until-answered.ts'

/** A new path segment that cannot be guessed. */
export function newPathSecret(): string {
  return randomBytes(16).toString('hex')
}

/** The installed path segment; undefined before the first install. */
export async function readPathSecret(
  client: KubeClient,
  namespace: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const secret = await client.get(secrets, { namespace, name: names.webhookSecret }, signal ? { signal } : {})
  const path = secret?.data?.['path']
  return path === undefined ? undefined : Buffer.from(path, 'base64').toString()
}

/** Waits until the path segment is installed. */
export function awaitPathSecret(
  client: KubeClient,
  { namespace, log, signal }: { namespace: string; log: Log; signal: AbortSignal },
): Promise<string> {
  const read = async () => {
    const found = await readPathSecret(client, namespace, signal)
    if (found) return found
    throw new Error(`Secret ${namespace}/${names.webhookSecret} does not exist: run eip-admission install`)
  }
  return retryUntilAnswered(read, { what: 'the installation', log, signal })
}
