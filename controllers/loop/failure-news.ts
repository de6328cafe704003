import type { Clock } from '../../kube/clock.ts'
import type { Key } from '../../kube/objects.ts'

/** How many failures of one kind were not reported yet, and how many keys fail so now. */
export type News = { failures: number; keys: number }

/** The news of failures for the log: the failures of one kind are one line a minute. */
export type FailureNews = {
  /** The news with this failure; undefined if it can wait. */
  failed(key: Key, message: string): News | undefined
  succeeded(key: Key): void
}

/** How long a kind of failure is not logged again: in an outage every key fails, and each event of it fails once more. */
const quietMs = 60_000

/** No failure yet. */
export function failureNews({ now }: Pick<Clock, 'now'>): FailureNews {
  const kinds = new Map<string, { keys: Set<Key>; unread: number; loggedAtMs: number }>()
  const kindOf = new Map<Key, string>()
  const leave = (key: Key) => {
    const name = kindOf.get(key) ?? ''
    const kind = kinds.get(name)
    kindOf.delete(key)
    kind?.keys.delete(key)
    if (kind?.keys.size === 0) kinds.delete(name)
  }
  return {
    succeeded: leave,
    failed(key, message) {
      const name = withoutNames(key, message)
      if (kindOf.get(key) !== name) leave(key)
      const kind = kinds.get(name) ?? { keys: new Set<Key>(), unread: 0, loggedAtMs: -Infinity }
      kinds.set(name, kind)
      kindOf.set(key, name)
      kind.keys.add(key)
      kind.unread += 1
      if (now() - kind.loggedAtMs < quietMs) return undefined
      const news = { failures: kind.unread, keys: kind.keys.size }
      kind.unread = 0
      kind.loggedAtMs = now()
      return news
    },
  }
}

const uuids = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi

/** A message without what differs from key to key: its names, ids and numbers. */
function withoutNames(key: Key, message: string): string {
  const names = new Set(key.split('/'))
  const words = message.replace(uuids, '#').split(/([\s"'`,;:()/]+)/)
  return words.map((word) => (names.has(word) ? '#' : word.replace(/\d+/g, '#'))).join('')
}
