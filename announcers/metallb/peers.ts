import type { NodePeers, Problem, Wanted } from '../announcer.ts'
import type { Secret } from '../../kube/objects.ts'
import type { IpFamily } from '../../lib/ip-address.ts'
import { distinct } from './order.ts'
import { type Marks, type There, labelsOf } from './ownership.ts'
import { withOnePassword } from './password.ts'
import { type Draft, type Drafts, peerPerRouter, peerPerSession } from './peer-drafts.ts'
import { type BGPPeer, isPeer } from './resources.ts'
import { possibleSessions } from './sessions.ts'

/** How BGPPeers are written: for MetalLB that speaks BGP itself, for MetalLB with FRR in all forms, or not by us. */
export type PeerMode = 'native' | 'frr' | 'none'

export type Peers = { secret: Wanted[]; wanted: Wanted[]; problems: Problem[] }

type Options = Marks & { peerMode: PeerMode; families: readonly IpFamily[] }

/** Whom MetalLB speaks with on each node, and the Secret with the password that it needs for it. */
export function peersOf(nodes: readonly NodePeers[], options: Options, there: There): Peers {
  const { peerMode, families } = options
  if (peerMode === 'none') return { secret: [], wanted: [], problems: [] }
  const { password, ...sessions } = withOnePassword(possibleSessions(nodes, families))
  const { drafts, problems }: Drafts =
    peerMode === 'native'
      ? peerPerSession(sessions)
      : peerPerRouter(sessions, { ours: there.ours.filter(isPeer), theirs: there.theirs.filter(isPeer) })
  const known = new Map(there.ours.filter(isPeer).map((peer) => [peer.metadata.name, peer]))
  const wanted = drafts.map((draft) => ({
    object: makePeer(draft, options, known.get(draft.name)),
    concerns: draft.nodes.map((node) => ({ node })),
  }))
  const needing = distinct(drafts.flatMap(({ session, nodes: of }) => (session.password === undefined ? [] : of)))
  const secret = password === undefined || needing.length === 0 ? [] : [makeSecret(password, options)]
  return { secret: secret.map((object) => ({ object, concerns: needing.map((node) => ({ node })) })), wanted, problems }
}

/** MetalLB's own default is 90 s, with FRR 180 s: a dead node has to be noticed sooner. */
const holdTime = '30s'

function makePeer(draft: Draft, options: Options, known: BGPPeer | undefined): BGPPeer {
  const { name, session, selector, source } = draft
  const { localAsn, peerAsn, router, isMultihop, password } = session
  // What was once said has to be unsaid: a reference that is only left out stays.
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
      // Within one AS there are no hops to count, and MetalLB refuses it.
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
