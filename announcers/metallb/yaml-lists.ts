import { isDeepStrictEqual } from 'node:util'
import { type Document, LineCounter, isSeq, parseDocument } from 'yaml'
import { type JsonObject, isJsonObject } from '../../lib/json.ts'
import { dialect, plainly, style } from './yaml-of.ts'
import { splice, splicesFor } from './yaml-splices.ts'

/** What becomes of a list of maps at the top of a document; its items are known by their places, from 0. */
export type ListChange = {
  drop: ReadonlySet<number>
  /** JsonObject that get another value; those that are not named stay. */
  alter: ReadonlyMap<number, JsonObject>
  add: readonly JsonObject[]
}

/** A document as a person wrote it, and what it says. */
export type Yaml = { text: string; document: Document.Parsed; says: JsonObject }

/** Reads a document whose top is a map. The error says where it cannot be read, and quotes nothing of it. */
export function readYaml(text: string): Yaml {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { ...dialect, keepSourceTokens: true, prettyErrors: false, lineCounter })
  const [error] = document.errors
  if (error) {
    const { line, col } = lineCounter.linePos(error.pos[0])
    throw new Error(`line ${line}, column ${col} is no YAML (${error.code})`)
  }
  const says: unknown = valueOf(document) ?? {}
  if (!isJsonObject(says)) throw new Error('it is no map of settings')
  return { text, document, says }
}

/** The parser's own error has a name from the document in it. */
function valueOf(document: Document.Parsed): unknown {
  try {
    return document.toJS()
  } catch {
    throw new Error('it has an alias that cannot be followed')
  }
}

/** The items of a list at the top of the document; one that is not there has none. */
export function listOf({ says }: Yaml, key: string): unknown[] {
  const list = says[key] ?? []
  if (!Array.isArray(list)) throw new Error(`${key} is no list`)
  return list
}

/** The text with its lists changed. Every other byte stays as it was, unless the layout of the lists is like JSON's. */
export function changeLists(yaml: Yaml, changes: Readonly<Record<string, ListChange>>): string {
  const due = Object.entries(changes).filter(([, { drop, alter, add }]) => drop.size + alter.size + add.length > 0)
  if (due.length === 0) return yaml.text
  const says = {
    ...yaml.says,
    ...Object.fromEntries(due.map(([key, change]) => [key, changed(listOf(yaml, key), change)])),
  }
  const whole = yaml.text === '' || yaml.text.endsWith('\n') ? yaml : readYaml(`${yaml.text}\n`)
  // A list that is new begins where the last one may go on: behind what that one gets.
  const isNew = ([key]: [string, ListChange]) => Number(!(key in yaml.says))
  const inPlaces = due.toSorted((one, other) => isNew(one) - isNew(other))
  const splices = inPlaces.flatMap(([key, change]) => splicesFor(whole, key, change))
  const text = ifSaid(says, () => splice(whole.text, splices)) ?? ifSaid(says, () => rewrite(yaml.text, due))
  if (text !== undefined) return text
  throw new Error(`${due.map(([key]) => key).join(' and ')}: the layout cannot be edited; write plain lists there`)
}

function changed(items: unknown[], { drop, alter, add }: ListChange): unknown[] {
  const altered = items.map((item, at) => (isJsonObject(item) && alter.has(at) ? { ...item, ...alter.get(at) } : item))
  return [...altered.filter((_, at) => !drop.has(at)), ...add]
}

/** The text that is made, where it says just that: nothing is believed that was not read once more. */
function ifSaid(says: JsonObject, make: () => string): string | undefined {
  try {
    const text = make()
    return isDeepStrictEqual(readYaml(text).says, says) ? text : undefined
  } catch {
    return undefined
  }
}

function rewrite(text: string, changes: readonly [string, ListChange][]): string {
  const { document } = readYaml(text)
  const node = (value: unknown) => document.createNode(value, plainly)
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
