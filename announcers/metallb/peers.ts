import type { NodePeers, Problem, WantedObject } from '../announcer.ts'
import type { Secret } from '../../kube/objects.ts'
import type { IpFamily } from '../../lib/ip-address.ts'
import { peersOfDrafts } from './adopt-peers.ts'
import { distinct } from '../shared/order.ts'
import { possibleSessions, sessionsWithOnePassword } from '../shared/sessions.ts'
import { type Marks, type ExistingObjects, labelsOf } from './ownership.ts'
import { type Drafts, peerPerRouter, peerPerSession } from './peer-drafts.ts'
import { isPeer } from './resources.ts'
import { peerObject } from './peer-object.ts'

/** How we write BGPPeers: for MetalLB's own BGP, for MetalLB with FRR in all its forms, or not at all. */
export type PeerMode = 'native' | 'frr' | 'none'

/** The phrase of messages about routers of other families. */
export const frrAlone = 'which MetalLB supports only in FRR mode'

export type Peers = { secret: WantedObject[]; wanted: WantedObject[]; problems: Problem[] }

type Options = Marks & { peerMode: PeerMode; families: readonly IpFamily[] }

/** The BGP peers of MetalLB on each node, and the Secret with their password. */
export function peersOf(nodes: readonly NodePeers[], options: Options, existing: ExistingObjects): Peers {
  const { peerMode, families } = options
  if (peerMode === 'none') return { secret: [], wanted: [], problems: [] }
  const { password, ...sessions } = sessionsWithOnePassword(
    possibleSessions(nodes, { possible: families, otherwise: frrAlone }),
  )
  const { drafts, problems }: Drafts =
    peerMode === 'native'
      ? peerPerSession(sessions)
      : peerPerRouter(sessions, { ours: existing.ours.filter(isPeer), foreign: existing.foreign.filter(isPeer) })
  const known = peersOfDrafts(drafts, existing.ours.filter(isPeer))
  const written = drafts.map((draft) => ({ draft, object: peerObject(draft, options, known.get(draft)) }))
  const wanted = written.map(({ draft, object }) => ({ object, subjects: draft.nodes.map((node) => ({ node })) }))
  const referring = written.filter(({ object }) => object.spec.passwordSecret?.name === options.passwordSecret)
  const needing = distinct(referring.flatMap(({ draft }) => draft.nodes))
  const secret = password === undefined || needing.length === 0 ? [] : [makeSecret(password, options)]
  return { secret: secret.map((object) => ({ object, subjects: needing.map((node) => ({ node })) })), wanted, problems }
}

function makeSecret(password: string, options: Options): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: options.passwordSecret, namespace: options.namespace, labels: labelsOf(options) },
    type: 'kubernetes.io/basic-auth',
    data: { password: Buffer.from(password).toString('base64') },
  }
}
