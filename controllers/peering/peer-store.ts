import { gunzipSync, gzipSync } from 'node:zlib'
import type { KubeClient } from '../../kube/client.ts'
import type { Log } from '../../kube/log.ts'
import type { Secret } from '../../kube/objects.ts'
import { secrets } from '../../kube/resource.ts'
import type { Reconciler } from '../loop/reconciler.ts'
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
  /** Restores the facts that were stored; false if there are none that can be read. */
  load(signal: AbortSignal): Promise<boolean>
}

/** The only key of the store, which stores all facts together. */
export const peerStoreKey = 'all'

const fieldManager = 'eip-admission-peers'
/** Compressed, because a Secret holds a megabyte at most and the facts about a few thousand nodes exceed that. */
const entry = 'peers.json.gz'

/** A store in the Secret `at`, because the facts contain passwords. */
export function peerStore({ client, facts, at, log }: PeerStoreDeps): PeerStore {
  let stored: string | undefined
  return {
    name: 'peer-store',
    async load(signal) {
      const secret = await client.get(secrets, at, { signal })
      const text = unpack(secret)
      const known = text === undefined ? undefined : parseFacts(text)
      if (secret && !known)
        log.warn(
          { secret: `${at.namespace}/${at.name}` },
          'the stored BGP peers are damaged: we read them from the cloud again',
        )
      stored = known && text
      facts.restore(known ?? [])
      return known !== undefined
    },
    async reconcile(_key, signal) {
      const text = facts.text()
      if (text === stored) return {}
      await client.apply<Secret>(secrets, secretOf(text, at), { fieldManager, signal })
      stored = text
      return {}
    },
  }
}

function secretOf(text: string, at: PeerStoreDeps['at']): Secret {
  const data = { [entry]: gzipSync(text).toString('base64') }
  return { apiVersion: 'v1', kind: 'Secret', metadata: at, data }
}

function unpack(secret: Secret | undefined): string | undefined {
  const packed = secret?.data?.[entry]
  if (packed === undefined) return undefined
  try {
    return gunzipSync(Buffer.from(packed, 'base64')).toString('utf8')
  } catch {
    return undefined
  }
}
