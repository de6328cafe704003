import {
  type Document,
  type Pair,
  type ParsedNode,
  type YAMLMap,
  type YAMLSeq,
  isMap,
  isScalar,
  isSeq,
  stringify,
} from 'yaml'
import type { JsonObject } from '../../lib/json.ts'

/** The YAML version of MetalLB's parser: `no` is false, `<<` merges. */
export const dialect = { version: '1.1', merge: true } as const

/** The style of the Kubernetes tools; long texts are not folded. */
export const style = { indentSeq: false, lineWidth: 0 } as const

/** Equal values are written twice, without an alias: a person who edits the first would change the second too. */
export const withoutAliases = { aliasDuplicateObjects: false } as const

/** A value as YAML that ends with a line feed. */
function yamlOf(value: unknown): string {
  return stringify(value, { ...dialect, ...style, ...withoutAliases })
}

/** The change of a list of maps at the top of a document; items are named by their index. */
export type ListChange = {
  drop: ReadonlySet<number>
  /** Fields that get another value; other fields stay. */
  alter: ReadonlyMap<number, JsonObject>
  add: readonly JsonObject[]
}

/** A document as text, as the parser sees it, and as the value that it holds. */
export type Yaml = { text: string; document: Document.Parsed; value: JsonObject }

// We edit the text itself because a person edits it too. `Document.toString` of the package yaml would rewrite every
// line: indentation, blank lines, spaces before comments and in flow lists, numbers such as 0x1F4.

/** A part of a text that is replaced. */
export type Splice = { from: number; to: number; by: string }

type Entry = Pair<ParsedNode, ParsedNode | null>
type List = YAMLSeq.Parsed

/** The text with parts replaced that do not overlap. Insertions at one place keep their order. */
export function splice(text: string, splices: readonly Splice[]): string {
  let result = ''
  let at = 0
  for (const { from, to, by } of splices.toSorted((one, other) => one.from - other.from || one.to - other.to)) {
    result += text.slice(at, from) + by
    at = to
  }
  return result + text.slice(at)
}

/** The splices that change a list at the top of a document; none if its layout is not one that we can edit. */
export function splicesFor({ text, document }: Yaml, key: string, change: ListChange): Splice[] {
  const root = document.contents
  if (root === null) return [insertion(text.length, `${key}:\n${itemsOf(change.add, 0)}`)]
  if (!isMap(root) || root.flow) return []
  const indent = columnOf(text, root.range[0])
  const entry = entryOf(root, key)
  if (!entry) {
    const section = `${' '.repeat(indent)}${key}:\n${itemsOf(change.add, indent)}`
    return [insertion(lineEnd(text, contentEnd(root)), section)]
  }
  const list = entry.value
  if (isSeq(list) && list.items.length > 0) return list.flow ? [] : inList(text, { entry, list }, change)
  const colon = afterColon(entry)
  const isEmpty = isSeq(list) || list === null || (isScalar(list) && list.value === null)
  if (!isEmpty || colon === undefined) return []
  const to = list ? Math.max(colon, contentEnd(list)) : colon
  return [{ from: colon, to, by: '' }, insertion(lineEnd(text, to), itemsOf(change.add, indent))]
}

function inList(text: string, { entry, list }: { entry: Entry; list: List }, change: ListChange): Splice[] {
  const { drop, alter, add } = change
  const dashes = list.items.map((_, at) => dashOf(list, at))
  const [first = 0] = dashes
  const dropped = [...drop].map((at) => ({ from: lineStart(text, dashes[at] ?? 0), to: endOf(text, list, at), by: '' }))
  const altered = [...alter].flatMap(([at, fields]) => inItem(text, list.items[at], fields))
  const added = insertion(endOf(text, list, list.items.length - 1), itemsOf(add, columnOf(text, first)))
  const isEmptied = drop.size === list.items.length && add.length === 0
  const emptied = isEmptied ? [insertion(afterColon(entry) ?? 0, ' []')] : []
  return [...dropped, ...altered, added, ...emptied]
}

function inItem(text: string, item: ParsedNode | undefined, fields: JsonObject): Splice[] {
  if (!isMap(item) || item.flow) return []
  const indent = columnOf(text, item.range[0])
  return Object.entries(fields).map(([name, value]) => {
    const entry = entryOf(item, name)
    const from = entry && afterColon(entry)
    if (!entry || from === undefined) {
      const line = `${' '.repeat(indent)}${name}:${valueOf(value, indent)}\n`
      return insertion(lineEnd(text, contentEnd(item)), line)
    }
    const to = entry.value ? Math.max(from, contentEnd(entry.value)) : from
    return { from, to: text[to - 1] === '\n' ? to - 1 : to, by: valueOf(value, indent) }
  })
}

function entryOf(map: YAMLMap.Parsed, key: string): Entry | undefined {
  return map.items.find((entry) => isScalar(entry.key) && entry.key.value === key)
}

/** The text after the colon of a key that is in this column. */
function valueOf(value: unknown, indent: number): string {
  const lines = yamlOf(value).trimEnd()
  return typeof value === 'object' ? `\n${indented(lines, indent)}` : ` ${lines}`
}

function itemsOf(items: readonly JsonObject[], indent: number): string {
  return items.length === 0 ? '' : indented(yamlOf(items), indent)
}

function indented(lines: string, indent: number): string {
  return lines.replaceAll(/^(?=.)/gm, ' '.repeat(indent))
}

function insertion(at: number, by: string): Splice {
  return { from: at, to: at, by }
}

function dashOf(list: List, at: number): number {
  const token = list.srcToken?.items[at]?.start.find(({ type }) => type === 'seq-item-ind')
  return token?.offset ?? list.range[0]
}

function afterColon({ srcToken }: Entry): number | undefined {
  const colon = srcToken?.sep?.find(({ type }) => type === 'map-value-ind')
  return colon && colon.offset + 1
}

/** The end of the line on which an item of a list ends: comments below it belong to the next item. */
function endOf(text: string, list: List, at: number): number {
  const item = list.items[at]
  return item ? lineEnd(text, Math.max(contentEnd(item), dashOf(list, at) + 1)) : list.range[1]
}

/** Where a value ends, without the comments after it that the parser counts as a part of it. */
function contentEnd(node: ParsedNode): number {
  if (isMap(node) && !node.flow) {
    const last = node.items.at(-1)
    if (last) return Math.max(contentEnd(last.key), last.value ? contentEnd(last.value) : 0, afterColon(last) ?? 0)
  }
  const last = isSeq(node) && !node.flow ? node.items.at(-1) : undefined
  if (last) return contentEnd(last)
  const [from, to] = node.range
  // The parser places an empty value behind the comments that follow it.
  return from === to ? 0 : to
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}

function lineEnd(text: string, offset: number): number {
  return text[offset - 1] === '\n' ? offset : text.indexOf('\n', offset) + 1 || text.length
}

function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset)
}
