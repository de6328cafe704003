import type { Marks } from '../ports/cloud.ts'
import { marksAmong } from '../ports/marks.ts'
import { refusal } from './errors.ts'

/** Other programs and people tag the same addresses. */
const prefix = 'eip-admission.dev/'

/** When we reserved an address. The vendor's own time may belong to an earlier reservation with the same id. */
const reservedAt = 'reserved-at'

/** The vendor documents no limit, but its limit for descriptions fits each of our marks. */
const maxLength = 255

/** The tags of a new reservation: its marks, and the time. */
export function tagsOfNew(marks: Marks, now: Date): string[] {
  return withMarks([], { ...marks, [reservedAt]: now.toISOString() })
}

/** The tags with these marks changed, and all others unchanged. A mark without a value is removed. */
export function withMarks(tags: readonly string[], marks: Record<string, string | undefined>): string[] {
  const kept = tags.filter((tag) => {
    const [name] = partsOf(tag) ?? []
    return name === undefined || !Object.hasOwn(marks, name)
  })
  const set = Object.entries(marks).flatMap(([name, value]) => (value === undefined ? [] : tagOf(name, value)))
  return [...kept, ...set]
}

/** The marks among the tags of an address. */
export function marksOf(tags: readonly string[]): Marks {
  const { [reservedAt]: _time, ...marks } = ours(tags)
  return marks
}

/** When we reserved it; undefined if another program did. */
export function reservedAtOf(tags: readonly string[]): string | undefined {
  return ours(tags)[reservedAt]
}

function ours(tags: readonly string[]): Marks {
  return marksAmong(tags.map(partsOf).filter((parts) => parts !== undefined))
}

/** The name and the value of our tag; the first `=` ends the name. */
function partsOf(tag: string): [name: string, value: string] | undefined {
  const end = tag.indexOf('=')
  return tag.startsWith(prefix) && end > 0 ? [tag.slice(prefix.length, end), tag.slice(end + 1)] : undefined
}

function tagOf(name: string, value: string): string {
  const tag = `${prefix}${name}=${value}`
  if (tag.length <= maxLength) return tag
  throw refusal(`"${tag}" does not fit into a tag of ${maxLength} characters`, 'invalid')
}
