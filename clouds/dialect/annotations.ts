import type { Annotation } from '../../lib/annotation.ts'
import { annotation } from '../../settings/formats.ts'
import type { Flag, SettingsTable } from '../../settings/setting.ts'
import type { AnnotationScheme } from '../ports/peering.ts'

type NamedBySetting = Omit<Annotation, 'name'>

/** The annotation by which a Service requests a location. */
export function serviceLocation(values: string, setting: string): NamedBySetting {
  const sentence = 'Location in which eip-admission reserves the address of the Service.'
  return { on: 'Service', writers: ['user'], values, default: setting, sentence }
}

type AnnotationSource = { rows: SettingsTable; annotations: readonly Annotation[] }

/** The Service annotations of a dialect, under the names that its settings give them. */
export function serviceAnnotationNames({ rows, annotations }: AnnotationSource, values: object): string[] {
  const names = new Map<string, unknown>(Object.entries(values))
  // The default name of a renamed annotation has no effect, but is no mistake: Services may still have it.
  const named = Object.entries(rows)
    .filter(([, row]) => row.annotation?.on === 'Service')
    .flatMap(([setting, row]) => [String(names.get(setting)), ...('default' in row ? [row.default] : [])])
  return [...named, ...annotations.filter(({ on }) => on === 'Service').map(({ name }) => name)]
}

type PeerFact = keyof AnnotationScheme['names']

/** An annotation about the BGP peers of a node. `words` are used in the flag and the variable that name it. */
type NodeAnnotation = { fact: PeerFact; words: string; field: string; title: string; annotation: NamedBySetting }

type Names = [fact: PeerFact, words: string, field: string, title: string]

function onNode([fact, words, field, title]: Names, values: string, sentence: string): NodeAnnotation {
  return { fact, words, field, title, annotation: { on: 'Node', writers: ['eip-admission'], values, sentence } }
}

const nodeAnnotations = {
  localAsn: onNode(['localAsn', 'local-asn', 'LocalASN', 'local ASN'], 'an ASN', 'The ASN of the node.'),
  peerAsn: onNode(['peerAsn', 'peer-asn', 'PeerASN', 'peer ASN'], 'an ASN', 'The ASN of the peer.'),
  peerAsns: onNode(
    ['peerAsn', 'peer-asns', 'PeerASNs', 'peer ASNs'],
    'ASNs, separated by commas',
    'The ASNs of all peers.',
  ),
  peerAddress: onNode(
    ['peerAddress', 'peer-ip', 'PeerIP', 'peer address'],
    'an IP address',
    'The address of the peer.',
  ),
  peerAddresses: onNode(
    ['peerAddress', 'peer-ips', 'PeerIPs', 'peer addresses'],
    'IP addresses, separated by commas',
    'The addresses of all peers.',
  ),
  sourceAddress: onNode(
    ['sourceAddress', 'src-ip', 'SrcIP', 'source address'],
    'an IP address',
    'The address that the node uses towards the peer.',
  ),
  multihop: onNode(
    ['multihop', 'multi-hop', 'MultiHop', 'multihop'],
    '`true`',
    'The mark of a peer that is more than one hop away. Closer peers have no such annotation.',
  ),
  password: onNode(
    ['password', 'bgp-pass', 'BGPPass', 'BGP password'],
    'base64',
    'The BGP (MD5) password. Written only with `kube-vip://`; MetalLB reads it from a Secret.',
  ),
  privateNetwork: onNode(
    ['privateNetwork', 'network-ipv4-private', 'NetworkIPv4Private', 'private network'],
    'a CIDR',
    'The private network of the node.',
  ),
}

/** The setting that names an annotation about the BGP peers of a node. Each dialect has its own default. */
export function nodeAnnotationName(envPrefix: string, of: keyof typeof nodeAnnotations, name: string) {
  const { words, field, title, annotation: about } = nodeAnnotations[of]
  const flag: Flag = `--annotation-${words}`
  return {
    title: `${title} annotation`,
    flag,
    env: `${envPrefix}ANNOTATION_${words.replaceAll('-', '_').toUpperCase()}`,
    field: `annotation${field}`,
    format: annotation,
    default: name,
    sentence: `Name of the node annotation with ${about.sentence.replace(/^The/, 'the')}`,
    annotation: about,
  }
}

/** The settings that name a node's annotations for each of its peers. */
export function peerAnnotationNames(envPrefix: string, domain: string) {
  const named = (of: keyof typeof nodeAnnotations, end: string) =>
    nodeAnnotationName(envPrefix, of, `${domain}/bgp-peers-{{n}}-${end}`)
  return {
    annotationLocalAsn: named('localAsn', 'node-asn'),
    annotationPeerAsn: named('peerAsn', 'peer-asn'),
    annotationPeerIp: named('peerAddress', 'peer-ip'),
    annotationSrcIp: named('sourceAddress', 'src-ip'),
  }
}

/** The names that a dialect's settings give to the facts about a peer. */
export function peerFactNames(rows: SettingsTable, values: object): AnnotationScheme['names'] {
  const facts = new Map<unknown, PeerFact>(Object.values(nodeAnnotations).map((one) => [one.annotation, one.fact]))
  const names = new Map<string, unknown>(Object.entries(values))
  return Object.fromEntries(
    Object.entries(rows).flatMap(([setting, row]) => {
      const fact = facts.get(row.annotation)
      return fact === undefined ? [] : [[fact, String(names.get(setting))]]
    }),
  )
}
