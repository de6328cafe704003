import { parseAllDocuments } from 'yaml'
import type { KubeObject } from './objects.ts'
import { fileFault, readSmallFile } from '../lib/small-file.ts'

/** The objects of a manifest, or the problem of the file. */
export type ManifestFile = { objects: KubeObject[]; wrong?: never } | { objects?: never; wrong: string }

/** Reads the Kubernetes objects of a YAML file with one document or several. */
export function readManifest(path: string): ManifestFile {
  let text: string
  try {
    text = readSmallFile(path)
  } catch (error) {
    return { wrong: fileFault(error) }
  }
  return parseManifest(text)
}

/** The Kubernetes objects of a YAML text; a List is replaced by its items. It may contain Secrets: never quote it. */
export function parseManifest(text: string): ManifestFile {
  // YAML 1.1, like kubectl: 0400 is octal, and `on` is true.
  const documents = parseAllDocuments(text, { version: '1.1', prettyErrors: true })
  if (!Array.isArray(documents)) return { wrong: 'holds no object' }
  const [mistake] = documents.flatMap(({ errors }) => errors)
  if (mistake) {
    const { line, col } = mistake.linePos?.[0] ?? { line: 1, col: 1 }
    return { wrong: `is not YAML (line ${line} column ${col})` }
  }
  const items = documents.map((document): unknown => document.toJS()).flatMap(itemsOf)
  const objects = items.filter(isObject)
  const invalid = items.findIndex((item) => !isObject(item))
  if (invalid >= 0) return { wrong: `has no apiVersion, kind or metadata.name in object ${invalid + 1}` }
  return objects.length > 0 ? { objects } : { wrong: 'holds no object' }
}

/** The objects of a document: none if it is empty, the items if it is a List. */
function itemsOf(document: unknown): unknown[] {
  if (document === null || document === undefined) return []
  const { kind, items } = document as { kind?: unknown; items?: unknown }
  return kind === 'List' && Array.isArray(items) ? (items as unknown[]) : [document]
}

function isObject(item: unknown): item is KubeObject {
  const { apiVersion, kind, metadata } = (item ?? {}) as Partial<Record<keyof KubeObject, unknown>>
  const { name } = (metadata ?? {}) as { name?: unknown }
  return [apiVersion, kind, name].every((word) => typeof word === 'string' && word !== '')
}
