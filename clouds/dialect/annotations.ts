import type { Annotation } from '../../lib/annotation.ts'
import type { SettingsTable } from '../../settings/setting.ts'

/** An annotation whose name is a setting. */
export type NamedBySetting = Omit<Annotation, 'name'>

/** The annotation by which a Service requests a location. */
export function serviceLocation(values: string, setting: string): NamedBySetting {
  const sentence = 'Location in which eip-admission reserves the address of the Service.'
  return { on: 'Service', writers: ['user'], values, default: setting, sentence }
}

function onNode(values: string, sentence: string): NamedBySetting {
  return { on: 'Node', writers: ['eip-admission'], values, sentence }
}

/** The source of a dialect's annotations. */
type AnnotationSource = { rows: SettingsTable; annotations: readonly Annotation[] }

/** The Service annotations of a dialect, under the names that its settings give them. */
export function serviceAnnotationNames({ rows, annotations }: AnnotationSource, values: object): string[] {
  const names = new Map<string, unknown>(Object.entries(values))
  // The default name of a renamed annotation has no effect any more, but is no mistake: Services may still carry it.
  const named = Object.entries(rows)
    .filter(([, { annotation }]) => annotation?.on === 'Service')
    .flatMap(([setting, row]) => [String(names.get(setting)), ...('default' in row ? [row.default] : [])])
  return [...named, ...annotations.filter(({ on }) => on === 'Service').map(({ name }) => name)]
}

/** The node annotations of a dialect that a predecessor left and that are not written any more. */
export function outdatedNodeAnnotations({ annotations }: AnnotationSource): string[] {
  return annotations.filter(({ on }) => on === 'Node').map(({ name }) => name)
}

/** Our annotations about the BGP peers of a node. Each dialect has names of its own for these. */
export const nodeAnnotations = {
  localAsn: onNode('an ASN', 'The ASN of the node.'),
  peerAsn: onNode('an ASN', 'The ASN of the peer.'),
  peerAsns: onNode('ASNs, separated by commas', 'The ASNs of all peers.'),
  peerAddress: onNode('an IP address', 'The address of the peer.'),
  peerAddresses: onNode('IP addresses, separated by commas', 'The addresses of all peers.'),
  sourceAddress: onNode('an IP address', 'The address that the node uses towards the peer.'),
  multihop: onNode('`true`', 'The peer is more than one hop away. Left out for a nearer peer.'),
  password: onNode(
    'base64',
    'The BGP (MD5) password. Written only with `kube-vip://`; MetalLB reads it from a Secret.',
  ),
  privateNetwork: onNode('a CIDR', 'The private network of the node.'),
}
