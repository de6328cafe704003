import { isDeepStrictEqual } from 'node:util'
import {
  type Document,
  type DocumentOptions,
  LineCounter,
  type ParseOptions,
  type SchemaOptions,
  isNode,
  isSeq,
  parseDocument,
} from 'yaml'
import { type JsonObject, defined, isJsonObject } from '../../lib/json.ts'

/** YAML as MetalLB's parser reads it: `no` is false, `<<` merges, and the community `64512:30` is not a time of day. */
const dialect: ParseOptions & DocumentOptions & SchemaOptions = {
  version: '1.1',
  merge: true,
  customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || !('format' in tag && tag.format === 'TIME')),
}

/** The style of the Kubernetes tools; long texts are not folded. */
const style = { indentSeq: false, flowCollectionPadding: false, lineWidth: 0 } as const

/** Equal values are written twice: with an alias, a person who edits the first would change the second too. */
const withoutAliases = { aliasDuplicateObjects: false } as const

/** A document as text, and the value that it holds. */
export type Yaml = { text: string; value: JsonObject }

/** The change of a top-level list of maps; items are identified by their index. */
export type ListChange = {
  drop: ReadonlySet<number>
  /** New values of fields, undefined to remove one; other fields stay. */
  alter: ReadonlyMap<number, JsonObject>
  add: readonly JsonObject[]
}

/**
 * Reads a document whose root is a map. An error names the place but quotes nothing, because the document holds
 * passwords.
 */
export function readYaml(text: string): Yaml {
  const value: unknown = valueOf(parse(text)) ?? {}
  if (!isJsonObject(value)) throw new Error('the document is not a map of settings')
  return { text, value }
}

function parse(text: string): Document.Parsed {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { ...dialect, prettyErrors: false, lineCounter })
  const [error] = document.errors
  if (!error) return document
  const { line, col } = lineCounter.linePos(error.pos[0])
  throw new Error(`line ${line}, column ${col} is not YAML (${error.code})`)
}

/** The value of a document. The parser's own error quotes the document, so it is replaced. */
function valueOf(document: Document.Parsed): unknown {
  try {
    return document.toJS()
  } catch {
    throw new Error('an alias cannot be resolved')
  }
}

/** The items of a top-level list of the document; none if the list does not exist. */
export function listOf({ value }: Yaml, key: string): unknown[] {
  const list = value[key] ?? []
  if (!Array.isArray(list)) throw new Error(`${key} is not a list`)
  return list
}

/** The text with its lists changed. All other values and all comments stay, but not a person's indentation. */
export function changeLists(yaml: Yaml, changes: Readonly<Record<string, ListChange>>): string {
  const missing = Object.entries(changes).filter(([, { drop, alter, add }]) => drop.size + alter.size + add.length > 0)
  if (missing.length === 0) return yaml.text
  const lists = missing.map(([key, change]) => [key, changed(listOf(yaml, key), change)])
  const value = { ...yaml.value, ...Object.fromEntries(lists) }
  const text = rewritten(yaml.text, missing)
  if (text !== undefined && isDeepStrictEqual(readYaml(text).value, value)) return text
  throw new Error(`${missing.map(([key]) => key).join(' and ')}: a list that has another name too cannot be edited`)
}

function changed(items: unknown[], { drop, alter, add }: ListChange): unknown[] {
  const altered = items.map((item, at) =>
    isJsonObject(item) && alter.has(at) ? defined({ ...item, ...alter.get(at) }) : item,
  )
  return [...altered.filter((_, at) => !drop.has(at)), ...add]
}

/** The document with these changes; undefined if an alias prevents them. The alias's error would quote the document. */
function rewritten(text: string, changes: readonly [string, ListChange][]): string | undefined {
  const document: Document = parse(text)
  document.contents ??= document.createNode({})
  try {
    for (const [key, change] of changes) changeList(document, key, change)
    return document.toString(style)
  } catch {
    return undefined
  }
}

function changeList(document: Document, key: string, { drop, alter, add }: ListChange): void {
  const node = (value: unknown) => document.createNode(value, withoutAliases)
  const list: unknown = document.get(key, true)
  if (!isSeq(list) || list.items.length === 0) {
    const { comment, commentBefore } = isNode(list) ? list : {}
    document.set(key, Object.assign(node(add), { comment, commentBefore }))
    return
  }
  for (const [at, fields] of alter)
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined) list.deleteIn([at, name])
      else list.setIn([at, name], node(value))
    }
  list.items = [...list.items.filter((_, at) => !drop.has(at)), ...add.map(node)]
}
