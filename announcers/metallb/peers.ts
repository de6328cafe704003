import type { NodePeers, Problem, WantedObject } from '../announcer.ts'
import type { Secret } from '../../kube/objects.ts'
import type { IpFamily } from '../../lib/ip-address.ts'
import { distinct } from './order.ts'
import { type Marks, type ExistingObjects, labelsOf } from './ownership.ts'
import { sessionsWithOnePassword } from './password.ts'
import { type Draft, type Drafts, peerPerRouter, peerPerSession } from './peer-drafts.ts'
import { type BGPPeer, isPeer } from './resources.ts'
import { possibleSessions } from './sessions.ts'

/** How we write BGPPeers: for MetalLB's own BGP, for MetalLB with FRR in all its forms, or not at all. */
export type PeerMode = 'native' | 'frr' | 'none'

export type Peers = { secret: WantedObject[]; wanted: WantedObject[]; problems: Problem[] }

type Options = Marks & { peerMode: PeerMode; families: readonly IpFamily[] }

/** The BGP peers of MetalLB on each node, and the Secret with their password. */
export function peersOf(nodes: readonly NodePeers[], options: Options, existing: ExistingObjects): Peers {
  const { peerMode, families } = options
  if (peerMode === 'none') return { secret: [], wanted: [], problems: [] }
  const { password, ...sessions } = sessionsWithOnePassword(possibleSessions(nodes, families))
  const { drafts, problems }: Drafts =
    peerMode === 'native'
      ? peerPerSession(sessions)
      : peerPerRouter(sessions, { ours: existing.ours.filter(isPeer), foreign: existing.foreign.filter(isPeer) })
  const known = new Map(existing.ours.filter(isPeer).map((peer) => [peer.metadata.name, peer]))
  const wanted = drafts.map((draft) => ({
    object: makePeer(draft, options, known.get(draft.name)),
    subjects: draft.nodes.map((node) => ({ node })),
  }))
  const needing = distinct(drafts.flatMap(({ session, nodes: of }) => (session.password === undefined ? [] : of)))
  const secret = password === undefined || needing.length === 0 ? [] : [makeSecret(password, options)]
  return { secret: secret.map((object) => ({ object, subjects: needing.map((node) => ({ node })) })), wanted, problems }
}

/** MetalLB's own default is 90 s, with FRR 180 s: routers must notice a dead node sooner. */
const holdTime = '30s'

function makePeer(draft: Draft, options: Options, known: BGPPeer | undefined): BGPPeer {
  const { name, session, selector, source } = draft
  const { localAsn, peerAsn, router, isMultihop, password } = session
  // To remove a reference we must write it empty: a field that we leave out stays.
  const secret = password === undefined ? known?.spec.passwordSecret && '' : options.passwordSecret
  return {
    apiVersion: 'metallb.io/v1beta2',
    kind: 'BGPPeer',
    metadata: { name, namespace: options.namespace, labels: labelsOf(options) },
    spec: {
      myASN: localAsn,
      peerASN: peerAsn,
      peerAddress: router.text,
      ...(source === undefined ? {} : { sourceAddress: source }),
      holdTime,
      // MetalLB refuses multi-hop within one AS.
      ebgpMultiHop: isMultihop && localAsn !== peerAsn,
      ...(secret === undefined ? {} : { passwordSecret: { name: secret } }),
      nodeSelectors: [selector],
    },
  }
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
