import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '../kube/objects.ts'
import { fileFault } from './file-fault.ts'

/** The objects of a manifest, or what keeps them from being applied. */
export type ManifestFile = { objects: KubeObject[]; wrong?: never } | { objects?: never; wrong: string }

/** Reads the Kubernetes objects of a YAML file with one document or several. */
export function readManifest(path: string): ManifestFile {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    return { wrong: fileFault(error) }
  }
  return parseManifest(text)
}

/** The Kubernetes objects of a YAML text, lists taken apart. Secrets may be in it: no message quotes it. */
export function parseManifest(text: string): ManifestFile {
  // As kubectl reads it: 0400 is octal, and `on` is true.
  const documents = parseAllDocuments(text, { version: '1.1', prettyErrors: true })
  if (!Array.isArray(documents)) return { wrong: 'holds no object' }
  const [mistake] = documents.flatMap(({ errors }) => errors)
  if (mistake) {
    const { line, col } = mistake.linePos?.[0] ?? { line: 1, col: 1 }
    return { wrong: `is not YAML (line ${line} column ${col})` }
  }
  const items = documents.map((document): unknown => document.toJS()).flatMap(itemsOf)
  const objects = items.filter(isObject)
  const stray = items.findIndex((item) => !isObject(item))
  if (stray >= 0)
    return { wrong: `holds something without apiVersion, kind or metadata.name: object ${stray + 1} of it` }
  return objects.length > 0 ? { objects } : { wrong: 'holds no object' }
}

/** An empty document is nothing, a List what is in it. */
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
