import { gunzipSync, gzipSync } from 'node:zlib'
import type { KubeClient } from '../../kube/client.ts'
import type { Log } from '../../kube/log.ts'
import type { Secret } from '../../kube/objects.ts'
import { secrets } from '../../kube/resource.ts'
import type { Outcome, Reconciler } from '../loop/reconciler.ts'
import { parseFacts } from '../facts/fact-text.ts'
import type { PeerFacts } from '../facts/peer-facts.ts'

export type PeerStoreDeps = {
  client: Pick<KubeClient, 'get' | 'apply'>
  facts: Pick<PeerFacts, 'restore' | 'text'>
  at: { namespace: string; name: string }
  log: Log
}

/** Stores the facts for the next start. */
export type PeerStore = Reconciler & {
  /** Restores the stored facts; false if there are none, or they cannot be read. */
  load(signal: AbortSignal): Promise<boolean>
  /** Removes everything stored, passwords included. */
  clear(signal: AbortSignal): Promise<Outcome>
}

/** The only key of the store, which stores all facts together. */
export const peerStoreKey = 'all'

const fieldManager = 'eip-admission-peers'
/** Compressed: a Secret holds at most a megabyte, less than the facts about a few thousand nodes. */
const entry = 'peers.json.gz'

/** Makes a store in the Secret `at`. It is a Secret because the facts contain passwords. */
export function peerStore({ client, facts, at, log }: PeerStoreDeps): PeerStore {
  let stored: string | undefined
  return {
    name: 'peer-store',
    async load(signal) {
      const secret = await client.get(secrets, at, { signal })
      const text = unpack(secret)
      const known = text === undefined ? undefined : parseFacts(text)
      if (packedIn(secret) !== undefined && !known)
        log.warn(
          { secret: `${at.namespace}/${at.name}` },
          'the stored BGP peers are damaged: they are read from the provider again',
        )
      stored = known && text
      facts.restore(known ?? [])
      return known !== undefined
    },
    async reconcile(_key, signal) {
      const text = facts.text()
      if (text === stored) return {}
      const data = { [entry]: gzipSync(text).toString('base64') }
      await client.apply<Secret>(secrets, secretOf(data, at), { fieldManager, signal })
      stored = text
      return {}
    },
    async clear(signal) {
      if (packedIn(await client.get(secrets, at, { signal })) === undefined) return {}
      await client.apply<Secret>(secrets, secretOf({}, at), { fieldManager, signal })
      return {}
    },
  }
}

function secretOf(data: Record<string, string>, at: PeerStoreDeps['at']): Secret {
  return { apiVersion: 'v1', kind: 'Secret', metadata: at, data }
}

function packedIn(secret: Secret | undefined): string | undefined {
  return secret?.data?.[entry]
}

function unpack(secret: Secret | undefined): string | undefined {
  const packed = packedIn(secret)
  if (packed === undefined) return undefined
  try {
    return gunzipSync(Buffer.from(packed, 'base64')).toString('utf8')
  } catch {
    return undefined
  }
}
