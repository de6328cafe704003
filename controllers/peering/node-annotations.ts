import type { Peer } from '../../announcers/announcer.ts'
import type { PeerFact } from '../facts/fact-text.ts'
import type { AnnotationScheme } from '../../clouds/ports/peering.ts'

export type Annotations = Record<string, string>

/** All annotations of a node for its peers; none if no peer is known. */
export function wantedAnnotations(fact: PeerFact | undefined, scheme: AnnotationScheme): Annotations {
  const { names, showsPasswords } = scheme
  const { peers = [], privateNetwork } = fact ?? {}
  const each = (name: string | undefined, valueOf: (peer: Peer) => string | undefined) =>
    numbered(name, peers.map(valueOf))
  return {
    ...each(names.localAsn, ({ localAsn }) => String(localAsn)),
    ...each(names.peerAsn, ({ peerAsn }) => String(peerAsn)),
    ...each(names.peerAddress, ({ peerAddress }) => peerAddress),
    ...each(names.sourceAddress, ({ sourceAddress }) => sourceAddress),
    ...each(names.multihop, ({ isMultihop }) => (isMultihop ? 'true' : undefined)),
    ...each(names.password, ({ password }) => (showsPasswords && password ? base64(password.reveal()) : undefined)),
    ...numbered(names.privateNetwork, [privateNetwork]),
  }
}

/** A predicate for the annotations that we write, or would write for other peers. */
export function ownNames({ names, outdated }: AnnotationScheme): (name: string) => boolean {
  const patterns = [...Object.values(names), ...outdated].map((name) =>
    name
      .split(placeholder)
      .map((part) => RegExp.escape(part))
      .join('(?:0|[1-9][0-9]*)'),
  )
  const own = new RegExp(`^(?:${patterns.join('|')})$`)
  return (name) => own.test(name)
}

const placeholder = '{{n}}'

/** An annotation for each peer. A name without `{{n}}` gets all distinct values, separated by commas. */
function numbered(name: string | undefined, values: (string | undefined)[]): Annotations {
  if (name === undefined) return {}
  const known = values.flatMap((value, n) => (value === undefined ? [] : [{ n, value }]))
  if (name.includes(placeholder))
    return Object.fromEntries(known.map(({ n, value }) => [name.replace(placeholder, String(n)), value]))
  const different = new Set(known.map(({ value }) => value))
  return different.size === 0 ? {} : { [name]: [...different].join(',') }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
