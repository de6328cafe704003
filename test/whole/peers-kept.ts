import { gunzipSync } from 'node:zlib'
import type { Secret } from '../../kube/objects.ts'
import { secrets } from '../../kube/resource.ts'
import { eventually } from './eventually.ts'
import type { World } from './world.ts'

const at = { namespace: 'eip-admission', name: 'eip-admission-peers' }
const entry = 'peers.json.gz'

/** What the product keeps of peers for its next start. */
export type PeersKept = {
  secret: () => Promise<Secret | undefined>
  /** As text; empty where there is none. */
  kept: () => Promise<string>
  /** Waits until something of a node is kept, or nothing. */
  keeps: (node: string, isKept?: boolean) => Promise<true>
  /** Something else is in its place, or nothing. */
  damage: (data: string | null) => Promise<void>
}

/** Looks at what is kept. */
export function peersKept({ client }: Pick<World, 'client'>): PeersKept {
  const secret = () => client.get<Secret>(secrets, at)
  const kept = async () => {
    const packed = (await secret())?.data?.[entry]
    return packed === undefined ? '' : gunzipSync(Buffer.from(packed, 'base64')).toString()
  }
  return {
    secret,
    kept,
    keeps: (node, isKept = true) =>
      eventually(`${node} is ${isKept ? '' : 'not '}kept`, async (see) => {
        return see(await kept()).includes(`"node":"${node}"`) === isKept || undefined
      }),
    damage: async (data) =>
      void (await client.patch(secrets, { ...at, patch: { merge: { data: { [entry]: data } } } })),
  }
}
