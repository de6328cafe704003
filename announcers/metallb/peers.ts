import type { NodePeers, Problem, WantedObject } from '../announcer.ts'
import type { IpFamily } from '../../lib/ip-address.ts'
import { peersOfDrafts, hasSelector } from './adopt-peers.ts'
import { distinct } from '../shared/order.ts'
import { secretWith } from '../shared/own-objects.ts'
import { possibleSessions, sessionsWithOnePassword } from '../shared/sessions.ts'
import { type Marks, type ExistingObjects, labelsOf, isCounting } from './ownership.ts'
import { type Drafts, peerPerRouter, peerPerSession, type Draft } from './peer-drafts.ts'
import { isPeer, type BGPPeer } from './resources.ts'
import { includes } from '../../lib/json.ts'
import { parseAddress } from '../shared/address.ts'
import type { PeerMode } from '../setting.ts'

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
  if (password === undefined || needing.length === 0) return { secret: [], wanted, problems }
  const { namespace, passwordSecret: name } = options
  const object = secretWith(password, { name, namespace, labels: labelsOf(options) })
  return { secret: [{ object, subjects: needing.map((node) => ({ node })) }], wanted, problems }
}

type Spec = BGPPeer['spec']

/** MetalLB's own default is 90 s, with FRR 180 s: routers must notice a dead node sooner. */
const holdTime = '30s'

/**
 * The BGPPeer of a draft. MetalLB restarts the sessions of a peer when anything in its spec changes. So an existing
 * peer keeps its name, and every field that means the same in another form.
 */
function peerObject(draft: Draft, marks: Marks, known: BGPPeer | undefined): BGPPeer {
  const spec = specOf(draft, marks, known?.spec)
  const { ebgpMultiHop: _unsaid, ...others } = spec
  // MetalLB without FRR treats every session as multi-hop. Predecessors leave the field out.
  const isUnsaid = draft.source !== undefined && known !== undefined && known.spec.ebgpMultiHop === undefined
  return {
    apiVersion: 'metallb.io/v1beta2',
    kind: 'BGPPeer',
    metadata: { name: known?.metadata.name ?? draft.name, namespace: marks.namespace, labels: labelsOf(marks) },
    spec: isUnsaid && includes(known.spec, others) ? others : spec,
  }
}

function specOf({ session, selector, source }: Draft, marks: Marks, known: Spec | undefined): Spec {
  const { localAsn, peerAsn, router, isMultihop, password } = session
  const { nodeSelectors = [], keepaliveTime, sourceAddress } = known ?? {}
  const isSelected = known !== undefined && hasSelector(known, selector)
  return {
    myASN: localAsn,
    peerASN: peerAsn,
    peerAddress: knownText(known?.peerAddress, router.text),
    ...(source === undefined ? cleared({ sourceAddress }) : { sourceAddress: knownText(sourceAddress, source) }),
    holdTime,
    // In v1beta1 the field always exists. With FRR, 0s beside a hold time ends the session each time the hold time
    // expires.
    ...(known?.holdTime === holdTime ? {} : cleared({ keepaliveTime })),
    // MetalLB refuses multi-hop within one AS.
    ebgpMultiHop: isMultihop && localAsn !== peerAsn,
    ...passwordFields(password, marks, known),
    // A predecessor that returns finds its count of Services.
    nodeSelectors: isSelected ? nodeSelectors : [selector, ...nodeSelectors.filter(isCounting)],
  }
}

/**
 * The password of a peer. One that a predecessor wrote into the peer itself stays there while it is right, because a
 * reference to the Secret would restart the session.
 */
function passwordFields(
  password: string | undefined,
  { passwordSecret: name }: Marks,
  known: Spec | undefined,
): Pick<Spec, 'password' | 'passwordSecret'> {
  if (password !== undefined && known?.password === password) return {}
  const plain = cleared({ password: known?.password })
  if (password !== undefined) return { ...plain, passwordSecret: { name } }
  return known?.passwordSecret ? { ...plain, passwordSecret: { name: '' } } : plain
}

/** Clears fields that are set: an omitted field would stay, so null removes it. */
function cleared<Name extends string>(fields: Record<Name, unknown>): Partial<Record<Name, null>> {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(there.map(([name]) => [name, null])) as Partial<Record<Name, null>>
}

/** The stored text, if it is the same address. */
function knownText(known: string | null | undefined, text: string): string {
  return known && parseAddress(known)?.text === text ? known : text
}
