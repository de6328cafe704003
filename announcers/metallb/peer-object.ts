import { includes } from '../../lib/includes.ts'
import { parseAddress } from '../shared/address.ts'
import { hasSelector } from './adopt-peers.ts'
import { type Marks, isCounting, labelsOf } from './ownership.ts'
import type { Draft } from './peer-drafts.ts'
import type { BGPPeer } from './resources.ts'

type Spec = BGPPeer['spec']

/** MetalLB's own default is 90 s, with FRR 180 s: routers must notice a dead node sooner. */
const holdTime = '30s'

/**
 * The BGPPeer of a draft. MetalLB closes the sessions of a peer and opens them again when anything in its spec changes.
 * So a peer that exists keeps its name, and every field that says the same in other words.
 */
export function peerObject(draft: Draft, marks: Marks, known: BGPPeer | undefined): BGPPeer {
  const spec = specOf(draft, marks, known?.spec)
  const { ebgpMultiHop: _unsaid, ...others } = spec
  // MetalLB without FRR takes every router for one that is several hops away. Predecessors do not say so.
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
    // In v1beta1 it is always there. With FRR, 0s beside a hold time would end the session each time that it runs out.
    ...(known?.holdTime === holdTime ? {} : cleared({ keepaliveTime })),
    // MetalLB refuses multi-hop within one AS.
    ebgpMultiHop: isMultihop && localAsn !== peerAsn,
    ...passwordFields(password, marks, known),
    // A predecessor that comes back finds its count of Services.
    nodeSelectors: isSelected ? nodeSelectors : [selector, ...nodeSelectors.filter(isCounting)],
  }
}

/** A predecessor wrote the password into the peer. While it is the right one it stays: a reference to it is a change. */
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

/** To remove what is there we must write it empty: a field that we leave out stays. */
function cleared<Name extends string>(fields: Record<Name, unknown>): Partial<Record<Name, null>> {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(there.map(([name]) => [name, null])) as Partial<Record<Name, null>>
}

/** The text that is there, if it is the same address. */
function knownText(known: string | null | undefined, text: string): string {
  return known && parseAddress(known)?.text === text ? known : text
}
