import { gunzipSync } from 'node:zlib'
import type { Secret } from '../../kube/objects.ts'
import { secrets } from '../../kube/resource.ts'
import { eventually } from './eventually.ts'
import type { TestStage } from './test-stage.ts'

const at = { namespace: 'eip-admission', name: 'eip-admission-peers' }
const entry = 'peers.json.gz'

/** The peers that the product keeps in a Secret for its next start. */
export type PeersKept = {
  secret: () => Promise<Secret | undefined>
  /** The content as text; empty without a Secret. */
  kept: () => Promise<string>
  /** Waits until the Secret has an entry of the node, or none. */
  keeps: (node: string, isKept?: boolean) => Promise<true>
  /** Replaces the content with something else, or removes it. */
  damage: (data: string | null) => Promise<void>
}

/** Reads and damages the Secret. */
export function peersKept({ client }: Pick<TestStage, 'client'>): PeersKept {
  const secret = () => client.get<Secret>(secrets, at)
  const kept = async () => {
    const packed = (await secret())?.data?.[entry]
    return packed === undefined ? '' : gunzipSync(Buffer.from(packed, 'base64')).toString()
  }
  return {
    secret,
    kept,
    keeps: (node, isKept = true) =>
      eventually(`${node} is ${isKept ? '' : 'not '}kept`, async (observe) => {
        return observe(await kept()).includes(`"node":"${node}"`) === isKept || undefined
      }),
    damage: async (data) =>
      void (await client.patch(secrets, { ...at, patch: { merge: { data: { [entry]: data } } } })),
  }
}
