import { CloudError, type Marks } from '../ports/cloud.ts'
import { type Fields, fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'

/** A tag as a request has it. */
export type TagRequest = { name: string; value?: string }

/** Programs and people tag the same account. */
const prefix = 'eip-admission-'

/** The characters that the vendor accepts in names and values; only those letters that every program writes alike. */
const accepted = /^[A-Za-z0-9_-]{1,100}$/

/** A value that stands as it is, and one that does not: base64 has other characters, and an address has dots. */
const coded = /^x-([A-Za-z0-9_-]*)$/

/** The tags of a new reservation. */
export function tagsOf(marks: Marks): TagRequest[] {
  return withMarks([], marks)
}

/** The tags with these marks changed, and all others as they were. A mark without a value is removed. */
export function withMarks(tags: readonly TagRequest[], marks: Record<string, string | undefined>): TagRequest[] {
  const changed = new Map(Object.entries(marks).map(([mark, value]) => [nameOf(mark), value]))
  const kept = tags.filter(({ name }) => !changed.has(name))
  const set = [...changed].flatMap(([name, value]) => (value === undefined ? [] : { name, value: valueOf(value) }))
  return [...kept, ...set]
}

/** The marks among the tags of a block. */
export function marksOf(tags: readonly TagRequest[]): Marks {
  const ours = tags.filter(({ name }) => name.startsWith(prefix))
  return Object.fromEntries(ours.map(({ name, value = '' }) => [name.slice(prefix.length), markOf(value)]))
}

/** The filter of a list by a mark. The vendor does not say whether two filters mean both or one of them. */
export function tagFilter(mark: string, value: string): string {
  return `${nameOf(mark)}.${valueOf(value)}`
}

/** The tags in a response, as a request takes them back. */
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
  const message = `phoenixNAP: "${of}" does not fit into a tag of 100 letters, digits, "-" and "_"`
  throw new CloudError(message, { fault: 'invalid', outcome: 'nothing' })
}
