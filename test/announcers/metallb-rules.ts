import { isIPv4, isIPv6 } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { matchesSelector } from '../../lib/label-selector.ts'
import {
  type BGPAdvertisement,
  type BGPPeer,
  type IPAddressPool,
  isAdvertisement,
  isPeer,
  isPool,
} from '../../announcers/metallb/resources.ts'
import type { KubeObject, Secret } from '../../kube/objects.ts'

/** MetalLB without FRR, with FRR up to 0.15.3, and with FRR from 0.16 on. */
export type Rules = 'native' | 'frr-old' | 'frr-new'

export type LabelledNode = { labels: Record<string, string> }

/** Everything that MetalLB's validation has against a configuration as a whole. */
export function stateProblems(objects: KubeObject[], rules: Rules, nodes: LabelledNode[] = []): string[] {
  const [pools, peers, advertisements] = [
    objects.filter(isPool),
    objects.filter(isPeer),
    objects.filter(isAdvertisement),
  ]
  return [
    ...objects.flatMap(badName),
    ...duplicates(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)),
    ...badPools(pools.map(({ metadata, spec }) => ({ name: metadata.name, addresses: spec.addresses }))),
    ...peers.flatMap(badPeer),
    ...(rules === 'native' ? [] : badTogether(peers, rules, nodes)),
    ...badAdvertisements(advertisements, pools, rules),
    ...badPasswords(peers, objects),
  ]
}

function badName({ kind, metadata: { name, namespace } }: KubeObject): string[] {
  const isName = name.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name)
  return [
    ...(isName ? [] : [`${kind} ${name}: no name`]),
    ...(namespace === undefined ? [`${kind} ${name}: nowhere`] : []),
  ]
}

/** The problems of pools: their prefixes, and every two that overlap. */
export function badPools(pools: { name: string; addresses: string[] }[]): string[] {
  const ranges = pools.flatMap(({ name, addresses }) => addresses.map((text) => ({ name, text, range: rangeOf(text) })))
  return [
    ...pools.filter(({ addresses }) => addresses.length === 0).map(({ name }) => `pool ${name} has no prefixes`),
    ...ranges.flatMap(({ name, text, range }, at) => {
      if (!range) return [`pool ${name}: ${text} is no CIDR`]
      const others = ranges.slice(0, at).filter((other) => other.range && overlap(other.range, range))
      return others.map((other) => `pool ${name}: ${text} overlaps with ${other.text}`)
    }),
  ]
}

type Range = { first: bigint; last: bigint }

function overlap(one: Range, other: Range): boolean {
  return one.first <= other.last && other.first <= one.last
}

/** The addresses of a prefix or range as numbers; IPv4 where IPv6 maps it. */
function rangeOf(text: string): Range | undefined {
  if (text.includes('-')) {
    const [first, last] = text.split('-').map((part) => numberOf(part.trim()))
    return first !== undefined && last !== undefined && first <= last ? { first, last } : undefined
  }
  const [address = '', length = ''] = text.split('/')
  const number = numberOf(address)
  const bits = isIPv4(address) ? 32 : 128
  if (number === undefined || !/^\d+$/.test(length) || Number(length) > bits) return undefined
  const size = 1n << BigInt(bits - Number(length))
  return { first: number - (number % size), last: number - (number % size) + size - 1n }
}

function numberOf(address: string): bigint | undefined {
  if (isIPv4(address)) {
    const value = address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n)
    return (0xffffn << 32n) + value
  }
  if (!isIPv6(address) || address.includes('%')) return undefined
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [head = [], tail = []] = groups.map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = Array.from<string>({ length: 8 - head.length - tail.length }).fill('0')
  return [...head, ...zeros, ...tail].reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n)
}

function badPeer({ metadata: { name }, spec }: BGPPeer): string[] {
  const { myASN, peerASN = 0, peerAddress = '', sourceAddress, holdTime = '90s', nodeSelectors = [] } = spec
  const seconds = Number(/^(\d+)s$/.exec(holdTime)?.[1])
  const labels = nodeSelectors.flatMap(({ matchLabels = {}, matchExpressions = [] }) => [
    ...Object.values(matchLabels),
    ...matchExpressions.flatMap(({ values = [] }) => values),
  ])
  const wrong = {
    'an AS number': ![myASN, peerASN].every((asn) => Number.isInteger(asn) && asn > 0 && asn < 2 ** 32),
    address: numberOf(peerAddress) === undefined,
    source: typeof sourceAddress === 'string' && numberOf(sourceAddress) === undefined,
    'hold time': Number.isNaN(seconds) || (seconds > 0 && seconds < 3),
    'ebgpMultiHop within one AS': spec.ebgpMultiHop === true && myASN === peerASN,
    'duplicate selectors': nodeSelectors.some((one, at) =>
      nodeSelectors.slice(0, at).some((other) => isDeepStrictEqual(one, other)),
    ),
    'duplicate values': nodeSelectors.some(({ matchExpressions = [] }) =>
      matchExpressions.some(({ values = [] }) => new Set(values).size < values.length),
    ),
    'label values': !labels.every((value) => /^([a-z0-9]([-._a-z0-9]{0,61}[a-z0-9])?)?$/i.test(value)),
    'an empty In': nodeSelectors.some(({ matchExpressions = [] }) =>
      matchExpressions.some(({ operator, values = [] }) => operator === 'In' && values.length === 0),
    ),
  }
  return Object.entries(wrong).flatMap(([what, isSo]) => (isSo ? [`peer ${name}: ${what}`] : []))
}

/** FRR is one router: with one AS number and one id in each VRF, and one session with each neighbour. */
function badTogether(peers: BGPPeer[], rules: Rules, nodes: LabelledNode[]): string[] {
  return peers.flatMap((one, at) =>
    peers.slice(0, at).flatMap((other) => {
      const isApart = nodes.length > 0 && !nodes.some((node) => isForHostname(one, node) && isForHostname(other, node))
      if (rules === 'frr-new' && isApart) return []
      const isOneVrf = (one.spec.vrf ?? '') === (other.spec.vrf ?? '')
      const names = `peers ${one.metadata.name} and ${other.metadata.name}`
      const sameAddress = isOneVrf && numberOf(one.spec.peerAddress ?? '') === numberOf(other.spec.peerAddress ?? '')
      return [
        ...((one.spec.routerID ?? '') === (other.spec.routerID ?? '') ? [] : [`${names}: two router ids`]),
        ...(isOneVrf && one.spec.myASN !== other.spec.myASN ? [`${names}: two local AS numbers`] : []),
        ...(sameAddress ? [`${names}: one neighbour`] : []),
      ]
    }),
  )
}

function isForHostname({ spec: { nodeSelectors = [] } }: BGPPeer, { labels }: LabelledNode): boolean {
  return nodeSelectors.length === 0 || nodeSelectors.some((selector) => matchesSelector(labels, selector))
}

function badAdvertisements(advertisements: BGPAdvertisement[], pools: IPAddressPool[], rules: Rules): string[] {
  const found = advertisements.flatMap(({ metadata, spec = {} }) => {
    const lists = [spec.ipAddressPools ?? [], (spec.ipAddressPoolSelectors ?? []).map((one) => JSON.stringify(one))]
    return lists.flatMap(duplicates).map((what) => `advertisement ${metadata.name}: ${what}`)
  })
  for (const pool of pools) {
    const isIPv6 = pool.spec.addresses.some((range) => range.includes(':'))
    const own = advertisements.filter((one) => isForPool(one, pool))
    if (isIPv6 && own.length > 0 && rules === 'native') found.push(`pool ${pool.metadata.name}: IPv6 without FRR`)
    const lengthOf = ({ spec = {} }: BGPAdvertisement) =>
      isIPv6 ? (spec.aggregationLengthV6 ?? 128) : (spec.aggregationLength ?? 32)
    const isWithin = (one: BGPAdvertisement) => (range: string) => Number(range.split('/')[1] ?? 0) > lengthOf(one)
    if (own.some((one) => pool.spec.addresses.some(isWithin(one)))) found.push(`pool ${pool.metadata.name}: rolled up`)
    // The speakers compare those that select Services, for each Service.
    const compared = own.filter(({ spec }) => !spec?.serviceSelectors?.length)
    for (const [, alike] of Map.groupBy(compared, lengthOf)) {
      const attributes = new Set(alike.map(({ spec }) => `${spec?.localPref ?? 0} ${spec?.asPathPrepend ?? 0}`))
      if (attributes.size > 1) found.push(`pool ${pool.metadata.name}: two local preferences or lengths of the AS path`)
    }
  }
  return found
}

/** The speakers refuse everything where the password of a peer is not to be found. */
function badPasswords(peers: BGPPeer[], objects: KubeObject[]): string[] {
  return peers.flatMap(({ metadata, spec: { passwordSecret } }) => {
    if (!passwordSecret?.name) return []
    const secret = objects.find((one) => one.kind === 'Secret' && one.metadata.name === passwordSecret.name) as Secret
    const isGood = secret?.type === 'kubernetes.io/basic-auth' && secret.data?.['password'] !== undefined
    return isGood ? [] : [`peer ${metadata.name}: no password in Secret ${passwordSecret.name}`]
  })
}

function isForPool({ spec = {} }: BGPAdvertisement, { metadata }: IPAddressPool): boolean {
  const { ipAddressPools = [], ipAddressPoolSelectors = [] } = spec
  if (ipAddressPools.length + ipAddressPoolSelectors.length === 0) return true
  const { name, labels = {} } = metadata
  return ipAddressPools.includes(name) || ipAddressPoolSelectors.some((one) => matchesSelector(labels, one))
}

function duplicates(texts: string[]): string[] {
  return texts.filter((text, at) => texts.indexOf(text) < at).map((text) => `${text} twice`)
}
