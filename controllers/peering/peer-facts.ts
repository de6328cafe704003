import { EventEmitter, once } from 'node:events'
import type { NodePeers } from '../../announcers/announcer.ts'
import type { Key } from '../../kube/objects.ts'
import { factText, listText } from './fact-text.ts'

/** What the cloud said last of a node that takes part in BGP. */
export type PeerFact = NodePeers & {
  /** Id of the machine that it was said of. */
  machine: string
  /** The network of its private address, in CIDR notation. */
  privateNetwork: string | undefined
}

/** The last good facts about every node that takes part: what cannot be read now stays what it was. */
export type PeerFacts = {
  /**
   * Resolves when what was known before a restart is known again. Whoever announces without it would take back what is
   * announced already. Rejects when the signal aborts before that.
   */
  loaded(signal?: AbortSignal): Promise<void>
  all(): NodePeers[]
  get(node: Key): PeerFact | undefined
  set(fact: PeerFact): void
  /** The node is gone, or does not take part any more. */
  remove(node: Key): void
  /** Tells that something changed, from now on. */
  onChange(listener: () => void): void
  /** Takes over what was kept; what is known already goes before it. */
  recall(kept: PeerFact[]): void
  /** Nothing that may be announced is missing any more: `loaded` resolves. */
  ready(): void
  /** Another replica may know better by now: everything is read again. */
  forget(): void
  /** All that is known, as a text that can be compared and kept; it has passwords in it. */
  text(): string
}

/** No facts yet. */
export function peerFacts(): PeerFacts {
  const facts = new Map<Key, { fact: PeerFact; text: string }>()
  const listeners: (() => void)[] = []
  const tell = () => {
    for (const listener of listeners) listener()
  }
  const set = (fact: PeerFact) => {
    const text = factText(fact)
    if (facts.get(fact.node)?.text === text) return
    facts.set(fact.node, { fact, text })
    tell()
  }
  return {
    ...readiness(() => facts.clear()),
    all: () => [...facts.values()].map(({ fact }) => fact),
    get: (node) => facts.get(node)?.fact,
    set,
    remove(node) {
      if (facts.delete(node)) tell()
    },
    onChange: (listener) => void listeners.push(listener),
    recall(kept) {
      for (const fact of kept) if (!facts.has(fact.node)) set(fact)
    },
    text: () => listText([...facts.values()].map(({ text }) => text)),
  }
}

function readiness(clear: () => void): Pick<PeerFacts, 'loaded' | 'ready' | 'forget'> {
  const loading = new EventEmitter()
  let isReady = false
  return {
    async loaded(signal) {
      if (!isReady) await once(loading, 'in', signal && { signal })
    },
    ready() {
      isReady = true
      loading.emit('in')
    },
    forget() {
      isReady = false
      clear()
    },
  }
}
