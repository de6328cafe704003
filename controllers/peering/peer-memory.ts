import { gunzipSync, gzipSync } from 'node:zlib'
import type { KubeClient } from '../../kube/client.ts'
import type { Log } from '../../kube/log.ts'
import type { Secret } from '../../kube/objects.ts'
import { secrets } from '../../kube/resource.ts'
import type { Reconciler } from '../reconciler.ts'
import { parseFacts } from './fact-text.ts'
import type { PeerFacts } from './peer-facts.ts'

export type PeerMemoryDeps = {
  client: Pick<KubeClient, 'get' | 'apply'>
  facts: Pick<PeerFacts, 'recall' | 'text'>
  at: { namespace: string; name: string }
  log: Log
}

/** Keeps the facts, once they are ready: half of them would pass for all of them after a restart. */
export type PeerMemory = Reconciler & {
  /** Takes over what was kept; false where nothing was, or nothing that can be read. */
  recall(signal: AbortSignal): Promise<boolean>
}

/** The only key of the memory: all facts are kept together. */
export const memoryKey = 'all'

const fieldManager = 'eip-admission-peers'
/** A Secret holds a megabyte, which the facts about a few thousand nodes exceed as they are. */
const entry = 'peers.json.gz'

/** A memory in the Secret `at`, as passwords are among the facts. */
export function peerMemory({ client, facts, at, log }: PeerMemoryDeps): PeerMemory {
  let kept: string | undefined
  return {
    name: 'peer-memory',
    async recall(signal) {
      const secret = await client.get(secrets, at, { signal })
      const text = unpack(secret)
      const known = text === undefined ? undefined : parseFacts(text)
      if (secret && !known) log.warn({ secret: `${at.namespace}/${at.name}` }, 'damaged: the peers are asked for anew')
      kept = known && text
      facts.recall(known ?? [])
      return known !== undefined
    },
    async reconcile(_key, signal) {
      const text = facts.text()
      if (text === kept) return {}
      await client.apply<Secret>(secrets, secretOf(text, at), { fieldManager, signal })
      kept = text
      return {}
    },
  }
}

function secretOf(text: string, at: PeerMemoryDeps['at']): Secret {
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
