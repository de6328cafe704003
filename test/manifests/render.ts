import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { type ValueTree, isMap } from '../../manifests/choices.ts'
import { chartFolder, runHelm } from '../../sandbox/run-helm.ts'

/** An object of a manifest, as far as tests look for it. */
export type Rendered = ValueTree & { kind: string; metadata: ValueTree & { name: string; namespace?: string } }

/** The objects of the chart with these values, as helm renders them without a cluster. */
export async function renderChart(values: ValueTree): Promise<Rendered[]> {
  return inFolder((dir) => renderFrom(chartFolder, dir, values))
}

/** The text that helm shows after an install with these values. Without a cluster it shows that to no one else. */
export async function renderNotes(values: ValueTree): Promise<string> {
  return inFolder(async (dir) => {
    const chart = join(dir, 'chart')
    cpSync(chartFolder, chart, { recursive: true })
    const notes = '{{ include (print .Template.BasePath "/NOTES.txt") . | toJson }}'
    const object = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: notes\ndata:\n  notes: ${notes}\n`
    writeFileSync(join(chart, 'templates', 'notes.yaml'), object)
    const rendered = await renderFrom(chart, dir, values)
    const found = rendered.find(({ metadata }) => metadata.name === 'notes') as { data: { notes: string } } | undefined
    return found?.data.notes ?? ''
  })
}

async function renderFrom(chart: string, dir: string, values: ValueTree): Promise<Rendered[]> {
  const file = join(dir, 'values.yaml')
  writeFileSync(file, JSON.stringify(values))
  return objectsIn(await runHelm(['template', 'eip-admission', chart, '-n', 'eip-admission', '-f', file]))
}

async function inFolder<T>(work: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-values-'))
  try {
    return await work(dir)
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
