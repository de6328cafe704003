import { isDeepStrictEqual } from 'node:util'
import { type Document, LineCounter, isSeq, parseDocument } from 'yaml'
import { type JsonObject, isJsonObject } from '../../lib/json.ts'
import { type ListChange, type Yaml, dialect, splice, splicesFor, style, withoutAliases } from './yaml-splices.ts'

/** Reads a document whose top is a map. An error names the place, and quotes nothing: the document holds passwords. */
export function readYaml(text: string): Yaml {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { ...dialect, keepSourceTokens: true, prettyErrors: false, lineCounter })
  const [error] = document.errors
  if (error) {
    const { line, col } = lineCounter.linePos(error.pos[0])
    throw new Error(`line ${line}, column ${col} is not YAML (${error.code})`)
  }
  const value: unknown = valueOf(document) ?? {}
  if (!isJsonObject(value)) throw new Error('the document is not a map of settings')
  return { text, document, value }
}

/** The value of a document. The parser's own error quotes the document, so it is replaced. */
function valueOf(document: Document.Parsed): unknown {
  try {
    return document.toJS()
  } catch {
    throw new Error('an alias cannot be resolved')
  }
}

/** The items of a list at the top of the document; none if the list does not exist. */
export function listOf({ value }: Yaml, key: string): unknown[] {
  const list = value[key] ?? []
  if (!Array.isArray(list)) throw new Error(`${key} is not a list`)
  return list
}

/** The text with its lists changed. Every other byte stays, unless the lists are in flow style, like JSON. */
export function changeLists(yaml: Yaml, changes: Readonly<Record<string, ListChange>>): string {
  const missing = Object.entries(changes).filter(([, { drop, alter, add }]) => drop.size + alter.size + add.length > 0)
  if (missing.length === 0) return yaml.text
  const value = {
    ...yaml.value,
    ...Object.fromEntries(missing.map(([key, change]) => [key, changed(listOf(yaml, key), change)])),
  }
  const whole = yaml.text === '' || yaml.text.endsWith('\n') ? yaml : readYaml(`${yaml.text}\n`)
  // A new list begins where the last one ends, so it comes after the items that are added there.
  const isNew = ([key]: [string, ListChange]) => Number(!(key in yaml.value))
  const ordered = missing.toSorted((one, other) => isNew(one) - isNew(other))
  const splices = ordered.flatMap(([key, change]) => splicesFor(whole, key, change))
  const text =
    ifItHolds(value, () => splice(whole.text, splices)) ?? ifItHolds(value, () => rewrite(yaml.text, missing))
  if (text !== undefined) return text
  throw new Error(
    `${missing.map(([key]) => key).join(' and ')}: this layout cannot be edited; write block lists, one item after each "- "`,
  )
}

function changed(items: unknown[], { drop, alter, add }: ListChange): unknown[] {
  const altered = items.map((item, at) => (isJsonObject(item) && alter.has(at) ? { ...item, ...alter.get(at) } : item))
  return [...altered.filter((_, at) => !drop.has(at)), ...add]
}

/** The text that is made, if it holds exactly this value when we read it again; else undefined. */
function ifItHolds(value: JsonObject, make: () => string): string | undefined {
  try {
    const text = make()
    return isDeepStrictEqual(readYaml(text).value, value) ? text : undefined
  } catch {
    return undefined
  }
}

function rewrite(text: string, changes: readonly [string, ListChange][]): string {
  const { document } = readYaml(text)
  const node = (value: unknown) => document.createNode(value, withoutAliases)
  for (const [key, { drop, alter, add }] of changes) {
    const list: unknown = document.get(key)
    if (!isSeq(list)) {
      document.set(key, node(add))
      continue
    }
    const fields = [...alter].flatMap(([at, altered]) =>
      Object.entries(altered).map((field) => [at, ...field] as const),
    )
    for (const [at, name, value] of fields) list.setIn([at, name], node(value))
    list.items = [...list.items.filter((_, at) => !drop.has(at)), ...add.map(node)]
  }
  return document.toString(style)
}
