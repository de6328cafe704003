import type { Clock } from '../../kube/clock.ts'
import type { Key } from '../../kube/objects.ts'

/** How many failures of one kind were not reported yet, and how many keys currently fail this way. */
export type News = { failures: number; keys: number }

export type FailureNews = ReturnType<typeof failureNews>

/** How long a kind of failure is not logged again: in an outage every key fails, and once more with each event. */
const quietMs = 60_000

/** Selects the failures to log: one line a minute for each kind. */
export function failureNews({ now }: Pick<Clock, 'now'>) {
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
    /** Returns the news, including this failure; undefined if it can wait. */
    failed(key: Key, message: string): News | undefined {
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

/** A message without the parts that differ from key to key: names, ids and numbers. */
function withoutNames(key: Key, message: string): string {
  const names = new Set(key.split('/'))
  const words = message.replace(uuids, '#').split(/([\s"'`,;:()/]+)/)
  return words.map((word) => (names.has(word) ? '#' : word.replace(/\d+/g, '#'))).join('')
}
