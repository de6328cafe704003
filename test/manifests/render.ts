import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { type ValueTree, isMap } from '../../manifests/choices.ts'
import { chartFolder, runHelm } from '../../sandbox/run-helm.ts'

/** An object of a manifest, as far as tests look for it. */
export type Rendered = ValueTree & { kind: string; metadata: ValueTree & { name: string; namespace?: string } }

/** The objects of the chart with these values, as helm renders them without a cluster. */
export async function renderChart(values: ValueTree): Promise<Rendered[]> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-values-'))
  try {
    const file = join(dir, 'values.yaml')
    writeFileSync(file, JSON.stringify(values))
    return objectsIn(await runHelm(['template', 'eip-admission', chartFolder, '-n', 'eip-admission', '-f', file]))
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** The objects of a YAML text. */
export function objectsIn(text: string): Rendered[] {
  return parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .filter((object) => object !== null) as Rendered[]
}

/** The objects by their kinds and names. Kubernetes treats an empty list and null as absent. */
export function byName(objects: object[]): Record<string, unknown> {
  return Object.fromEntries(
    (objects as Rendered[])
      .map((object): [string, unknown] => [nameOf(object), withoutEmpty(object)])
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}

function nameOf({ kind, metadata: { name, namespace = '' } }: Rendered): string {
  return `${kind} ${namespace}/${name}`
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty)
  if (!isMap(value)) return value
  const entries = Object.entries(value).filter(
    ([, entry]) => entry !== null && entry !== undefined && !(Array.isArray(entry) && entry.length === 0),
  )
  return Object.fromEntries(entries.map(([name, entry]) => [name, withoutEmpty(entry)]))
}
