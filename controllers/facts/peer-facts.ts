import { EventEmitter, once } from 'node:events'
import type { Key } from '../../kube/objects.ts'
import { factText, listText, type PeerFact } from './fact-text.ts'

/** The last good facts about every node that takes part in BGP. A failed read changes none of them. */
export type PeerFacts = ReturnType<typeof peerFacts>

/** Creates a store without facts. */
export function peerFacts() {
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
    get: (node: Key) => facts.get(node)?.fact,
    set,
    /** Removes the fact of a node that was deleted or no longer takes part. */
    remove(node: Key) {
      if (facts.delete(node)) notify()
    },
    /** Calls the listener on every change from now on. */
    onChange: (listener: () => void) => void listeners.push(listener),
    /** Adds stored facts; a fact that is known already is newer and stays. */
    restore(stored: PeerFact[]) {
      for (const fact of stored) if (!facts.has(fact.node)) set(fact)
    },
    /** All facts as a text that can be compared and stored. It contains passwords. */
    text: () => listText([...facts.values()].map(({ text }) => text)),
  }
}

function completeness(clear: () => void) {
  const completion = new EventEmitter()
  let isComplete = false
  return {
    /**
     * Resolves when the facts are complete; rejects if the signal aborts first. Announcing earlier would withdraw
     * existing announcements.
     */
    async synced(signal?: AbortSignal) {
      if (!isComplete) await once(completion, 'complete', signal && { signal })
    },
    /** Resolves `synced`: no fact about announced peers is missing now. */
    markComplete() {
      isComplete = true
      completion.emit('complete')
    },
    /** Removes all facts, because another replica may have newer ones now. */
    reset() {
      isComplete = false
      clear()
    },
  }
}
