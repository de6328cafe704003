import { randomBytes } from 'node:crypto'
import type { KubeClient } from '../../kube/client.ts'
import type { Log } from '../../kube/log.ts'
import type { Secret } from '../../kube/objects.ts'
import { secrets } from '../../kube/resource.ts'
import { names } from '../../settings/installed-names.ts'
import { retryUntilAnswered } from '../../kube/connect.ts'

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
