// How kube-vip reads the annotations of its Node.
import { isIPv4 } from 'node:net'
import { type Release, rulesOf } from './kube-vip-releases.ts'

/** BGP as it is spoken then: the time to live is that of its packets. */
export type Speaking = {
  localAsn: number
  routerId: string
  sourceAddress: string
  peerAsn: number
  peers: string[]
  password: string | undefined
  timeToLive: number
}

export type NodeReading = { release: Release; prefix: string }

/** The session that a node's annotations ask for; undefined while it waits. Throws where it stops, or takes either of two. */
export function readNode(annotations: Record<string, string>, reading: NodeReading): Speaking | undefined {
  const { readsEveryPeer, knowsHops } = rulesOf(reading.release)
  const first = (datum: string) => single(datum, said(annotations, { ...reading, datum, peer: '0' }))
  const [localAsn, sourceAddress, peerAsn] = ['node-asn', 'src-ip', 'peer-asn'].map(first)
  const peers = readsEveryPeer
    ? said(annotations, { ...reading, datum: 'peer-ip', peer: '[0-9]+' })
    : [first('peer-ip') ?? ''].filter(Boolean)
  if (localAsn === undefined || sourceAddress === undefined || peerAsn === undefined || !peers.length) return undefined
  return {
    localAsn: asn(localAsn),
    routerId: routerId(sourceAddress),
    sourceAddress,
    peerAsn: asn(peerAsn),
    peers: [...new Set(peers.flatMap((list) => list.split(',')))].toSorted(),
    password: password(first('bgp-pass')),
    timeToLive: knowsHops ? timeToLive(first('peer-multi-hop')) : 1,
  }
}

type Question = NodeReading & { datum: string; peer: string }

/** Every value that goes for a datum, under its present name or the one without a number. */
function said(annotations: Record<string, string>, { release, prefix, datum, peer }: Question): string[] {
  const { isExact } = rulesOf(release)
  const pattern = new RegExp(
    `${isExact ? RegExp.escape(prefix) : prefix}/(bgp-peers-${peer}-)?${datum}${isExact ? '$' : ''}`,
  )
  return Object.entries(annotations).flatMap(([name, value]) => (pattern.test(name) ? [value] : []))
}

/** Its maps have no order: of two values, one at random counts. */
function single(datum: string, values: string[]): string | undefined {
  if (values.length > 1) throw new Error(`kube-vip finds ${values.length} annotations for ${datum}`)
  return values[0]
}

function asn(text: string): number {
  const value = Number(text)
  if (!/^[0-9]+$/.test(text) || value > 4_294_967_295) throw new Error(`kube-vip reads no ASN in "${text}"`)
  return value
}

function routerId(address: string): string {
  if (!isIPv4(address)) throw new Error(`kube-vip gets no router id from "${address}"`)
  return address
}

function password(text = ''): string | undefined {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw new Error('kube-vip reads standard base64 alone')
  return text === '' ? undefined : bytes.toString()
}

function timeToLive(text = 'false'): number {
  if (text !== 'true' && text !== 'false') throw new Error(`kube-vip stops at peer-multi-hop "${text}"`)
  return text === 'true' ? 50 : 1
}
