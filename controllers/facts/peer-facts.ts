import { EventEmitter, once } from 'node:events'
import type { NodePeers } from '../../announcers/announcer.ts'
import type { Key } from '../../kube/objects.ts'
import { factText, listText, type PeerFact } from './fact-text.ts'

/** The last good facts about every node that takes part in BGP. A failed read changes none of them. */
export type PeerFacts = {
  /**
   * Resolves when the facts are complete; rejects if the signal aborts first. Announcing earlier would withdraw
   * existing announcements.
   */
  synced(signal?: AbortSignal): Promise<void>
  all(): NodePeers[]
  get(node: Key): PeerFact | undefined
  set(fact: PeerFact): void
  /** Removes the fact of a node that was deleted or no longer takes part. */
  remove(node: Key): void
  /** Calls the listener on every change from now on. */
  onChange(listener: () => void): void
  /** Adds stored facts; a fact that is known already is newer and stays. */
  restore(stored: PeerFact[]): void
  /** Resolves `synced`, because no fact about announced peers is missing any more. */
  markComplete(): void
  /** Removes all facts, because another replica may have newer ones now. */
  reset(): void
  /** All facts as a text that can be compared and stored. It contains passwords. */
  text(): string
}

/** Creates a store without facts. */
export function peerFacts(): PeerFacts {
  const facts = new Map<Key, { fact: PeerFact; text: string }>()
  const listeners: (() => void)[] = []
  const notify = () => {
    for (const listener of listeners) listener()
  }
  const set = (fact: PeerFact) => {
    const text = factText(fact)
    if (facts.get(fact.node)?.text === text) return
    facts.set(fact.node, { fact, text })
    notify()
  }
  return {
    ...completeness(() => facts.clear()),
    all: () => [...facts.values()].map(({ fact }) => fact),
    get: (node) => facts.get(node)?.fact,
    set,
    remove(node) {
      if (facts.delete(node)) notify()
    },
    onChange: (listener) => void listeners.push(listener),
    restore(stored) {
      for (const fact of stored) if (!facts.has(fact.node)) set(fact)
    },
    text: () => listText([...facts.values()].map(({ text }) => text)),
  }
}

function completeness(clear: () => void): Pick<PeerFacts, 'synced' | 'markComplete' | 'reset'> {
  const completion = new EventEmitter()
  let isComplete = false
  return {
    async synced(signal) {
      if (!isComplete) await once(completion, 'complete', signal && { signal })
    },
    markComplete() {
      isComplete = true
      completion.emit('complete')
    },
    reset() {
      isComplete = false
      clear()
    },
  }
}
