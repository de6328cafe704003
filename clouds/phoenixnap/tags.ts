import type { Marks } from '../ports/cloud.ts'
import { marksAmong } from '../ports/marks.ts'
import { refusal } from './errors.ts'
import { type Fields, fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'

/** A tag as requests send it. */
export type TagRequest = { name: string; value?: string }

/** Other programs and people tag the same account. */
const prefix = 'eip-admission-'

/** The characters that the vendor accepts in names and values, limited to letters that every program encodes alike. */
const accepted = /^[A-Za-z0-9_-]{1,100}$/

/** An encoded value, for what a tag cannot contain: other base64 characters, and the dots of an address. */
const coded = /^x-([A-Za-z0-9_-]*)$/

/** The tags of a new reservation. */
export function tagsOf(marks: Marks): TagRequest[] {
  return withMarks([], marks)
}

/** The tags with these marks changed, and all others unchanged. A mark without a value is removed. */
export function withMarks(tags: readonly TagRequest[], marks: Record<string, string | undefined>): TagRequest[] {
  const changed = new Map(Object.entries(marks).map(([mark, value]) => [nameOf(mark), value]))
  const kept = tags.filter(({ name }) => !changed.has(name))
  const set = [...changed].flatMap(([name, value]) => (value === undefined ? [] : { name, value: valueOf(value) }))
  return [...kept, ...set]
}

/** The marks among the tags of a block. */
export function marksOf(tags: readonly TagRequest[]): Marks {
  const ours = tags.filter(({ name }) => name.startsWith(prefix))
  return marksAmong(ours.map(({ name, value = '' }) => [name.slice(prefix.length), markOf(value)]))
}

/** The filter of a list by a mark. The vendor does not say whether two filters mean both or either. */
export function tagFilter(mark: string, value: string): string {
  return `${nameOf(mark)}.${valueOf(value)}`
}

/** The tags in a response, in the form that requests send. */
export function readTags(given: unknown): TagRequest[] {
  return (itemsOf(given) ?? []).map(fieldsOf).flatMap((tag) => readTag(tag) ?? [])
}

function readTag({ name, value }: Fields): TagRequest | undefined {
  const [known, text] = [textOf(name), textOf(value)]
  return known === undefined ? undefined : { name: known, ...(text !== undefined && { value: text }) }
}

function nameOf(mark: string): string {
  return checked(`${prefix}${mark}`, mark)
}

function valueOf(value: string): string {
  const isPlain = accepted.test(value) && !coded.test(value)
  return checked(isPlain ? value : `x-${Buffer.from(value).toString('base64url')}`, value)
}

function markOf(value: string): string {
  const [, code] = coded.exec(value) ?? []
  return code === undefined ? value : Buffer.from(code, 'base64url').toString()
}

function checked(text: string, of: string): string {
  if (accepted.test(text)) return text
  throw refusal(`"${of}" does not fit into a tag of 100 letters, digits, "-" and "_"`, 'invalid')
}
