import { type Choices, type Release, type ValueTree, isMap, isMet, isSet, valueAt } from './choices.ts'

/** The choices of a manifest whose values are known. */
export function knownChoices(values: ValueTree, release: Release, pathSecret: string): Choices {
  const at = (path: string) => valueAt(values, path)
  return {
    text: (path) => choiceText(at(path)),
    scalar: at,
    block: (path) => (isSet(at(path)) ? at(path) : undefined),
    entries: (path) => mapAt(values, path),
    joined: (path, otherwise) => joined(at(path)) || otherwise,
    items: (path) => listAt(values, path),
    when: (condition, then) => (isMet(values, condition) ? then : undefined),
    unless: (condition, then) => (isMet(values, condition) ? undefined : then),
    either: (condition, then, otherwise) => (isMet(values, condition) ? then : otherwise),
    flags: (path) => flagsOf(at(path)),
    release,
    image: imageOf(values, release.version),
    pathSecret,
    base64: (text) => Buffer.from(text).toString('base64'),
    literal: (text) => text,
  }
}

function listAt(values: ValueTree, path: string): unknown[] {
  const list = valueAt(values, path)
  return Array.isArray(list) ? list : []
}

function mapAt(values: ValueTree, path: string): object {
  const map = valueAt(values, path)
  return isMap(map) ? map : {}
}

function flagsOf(settings: unknown): string[] {
  if (!isMap(settings)) return []
  return Object.entries(settings)
    .filter(([, value]) => value !== undefined && value !== null)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `--${name}=${joined(value)}`)
}

function joined(value: unknown): string {
  return Array.isArray(value) ? value.map(choiceText).join(',') : choiceText(value)
}

function imageOf(values: ValueTree, version: string): string {
  const [repository, tag, digest] = ['repository', 'tag', 'digest'].map((name) =>
    choiceText(valueAt(values, `image.${name}`)),
  )
  return digest ? `${repository}@${digest}` : `${repository}:${tag || version}`
}

/** A scalar as text; a map or a list has none. */
function choiceText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

/** The same without the entries and items that are absent. */
export function withoutAbsent(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== undefined).map(withoutAbsent)
  if (!isMap(value)) return value
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined)
  return Object.fromEntries(entries.map(([name, entry]) => [name, withoutAbsent(entry)]))
}
