import type { LabelSelector } from '../../lib/label-selector.ts'
import { parseAddress } from '../shared/address.ts'
import { compareTexts } from '../shared/order.ts'
import { isCounting } from './ownership.ts'
import { hostnameLabel } from '../shared/sessions.ts'
import { type Draft, isShared } from './peer-drafts.ts'
import type { BGPPeer } from './resources.ts'

/** The existing peer for each draft: the one with its name, else the best of those that configure its sessions. */
export function peersOfDrafts(drafts: readonly Draft[], ours: readonly BGPPeer[]): Map<Draft, BGPPeer> {
  const names = new Set(drafts.map(({ name }) => name))
  const byName = new Map(ours.map((peer) => [peer.metadata.name, peer]))
  const others = ours.filter(({ metadata }) => !names.has(metadata.name))
  const byPlace = Map.groupBy(others, (peer) => placeOfPeer(peer))
  const known = new Map<Draft, BGPPeer>()
  for (const draft of drafts) {
    const alike =
      draft.source === undefined ? others.filter((peer) => isShared(peer, draft.session)) : byPlace.get(placeOf(draft))
    const [best] = (alike ?? []).toSorted((one, other) => compareTexts(rank(one, draft), rank(other, draft)))
    const peer = byName.get(draft.name) ?? best
    if (peer) known.set(draft, peer)
  }
  return known
}

/** The same text for a single-node draft and any peer that configures its session. */
function placeOf({ session, selector }: Draft): string {
  return `${session.router.text} ${selectorText(selector)}`
}

function placeOfPeer({ spec }: BGPPeer): string | undefined {
  const [own, ...more] = (spec.nodeSelectors ?? []).filter((one) => !isCounting(one))
  if (own === undefined || more.length > 0 || spec.vrf) return undefined
  return `${parseAddress(spec.peerAddress ?? '')?.text} ${selectorText(own)}`
}

/** Whether a peer selects the same nodes as this selector, whatever Services it counts. */
export function hasSelector({ nodeSelectors = [] }: BGPPeer['spec'], selector: LabelSelector): boolean {
  const [own, ...more] = nodeSelectors.filter((one) => !isCounting(one))
  return own !== undefined && more.length === 0 && selectorText(own) === selectorText(selector)
}

/** The hostnames that the selectors of a peer name; undefined if it selects nodes by anything else. */
export function hostnamesOf({ nodeSelectors = [] }: BGPPeer['spec']): string[] | undefined {
  const named = nodeSelectors.filter((one) => !isCounting(one)).map(hostnamesOfOne)
  return named.length > 0 && named.every((one) => one !== undefined) ? named.flat() : undefined
}

function hostnamesOfOne({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string[] | undefined {
  const [label, ...labels] = Object.entries(matchLabels)
  const [expression, ...expressions] = matchExpressions
  if (labels.length + expressions.length > 0 || (label && expression)) return undefined
  if (label) return label[0] === hostnameLabel ? [label[1]] : undefined
  const isIn = expression?.key === hostnameLabel && expression.operator === 'In'
  return isIn ? (expression.values ?? []) : undefined
}

/** The same text for equivalent selectors. */
function selectorText(selector: LabelSelector): string {
  const hostnames = hostnamesOfOne(selector)
  if (hostnames) return JSON.stringify(hostnames.toSorted(compareTexts))
  const { matchLabels = {}, matchExpressions = [] } = selector
  const labels = Object.entries(matchLabels).map((entry) => entry.join('='))
  return JSON.stringify([labels.toSorted(compareTexts), matchExpressions])
}

/** Ranks first the peer that needs the fewest changes, so that its sessions may stay. */
function rank({ metadata, spec }: BGPPeer, { session, selector, source }: Draft): string {
  const isSame =
    spec.myASN === session.localAsn &&
    spec.peerASN === session.peerAsn &&
    (source === undefined || spec.sourceAddress === source) &&
    hasSelector(spec, selector)
  return `${isSame ? 0 : 1} ${metadata.name}`
}
