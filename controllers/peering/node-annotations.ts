import type { Peer } from '../../announcers/announcer.ts'
import type { PeerFact } from './peer-facts.ts'

type Datum = 'localAsn' | 'peerAsn' | 'peerAddress' | 'sourceAddress' | 'multihop' | 'password' | 'privateNetwork'

/** What a node that takes part in BGP is annotated with. */
export type AnnotationScheme = {
  /** The names of the annotations, in which `{{n}}` stands for the number of a peer; what has none is not said. */
  names: Partial<Record<Datum, string>>
  /** Whether the announcing software learns passwords in no other way. */
  showsPasswords: boolean
  /** Names that a predecessor gave the same facts, and that the announcing software would believe as well. */
  outdated: readonly string[]
}

export type Annotations = Record<string, string>

/** Everything that a node is to say of its peers; nothing where none of them is known. */
export function wantedAnnotations(fact: PeerFact | undefined, scheme: AnnotationScheme): Annotations {
  const { names, showsPasswords } = scheme
  const { peers = [], privateNetwork } = fact ?? {}
  const each = (name: string | undefined, say: (peer: Peer) => string | undefined) => numbered(name, peers.map(say))
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

/** Whether an annotation is one that we write, or would write in other circumstances. */
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

/** One annotation for each peer; a name without a place for the number says all that differs, separated by commas. */
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
