import { closest, distance } from 'fastest-levenshtein'
import type { Location } from '../clouds/cloud.ts'

/** One place that may say where an address is reserved: a setting for the whole cluster, or a Service's annotation. */
export type LocationSource =
  | { kind: 'setting'; word: string; name: string; value: string | undefined }
  | { kind: 'annotation'; word: string; name: string }

export type Located = { location: string; ignored: string[] } | { problem: string }

/**
 * Where a Service's address is to be reserved: the first source that says anything. `known` are the cloud's own
 * locations; without them any value passes and the cloud is the judge.
 */
export function locate(
  annotations: Record<string, string>,
  sources: LocationSource[],
  known: Location[] | undefined,
): Located {
  const said = sources.flatMap((source) => {
    const value = source.kind === 'setting' ? source.value : annotations[source.name]
    return value === undefined || value === '' ? [] : [{ source, value }]
  })
  const [chosen, ...others] = said
  if (!chosen) return { problem: nowhere(sources) }
  const location = chosen.value.toLowerCase()
  const alike = known?.filter(({ kind }) => kind === chosen.source.word) ?? []
  // A cloud that lists none of a kind may still take its codes.
  if (alike.length > 0 && !alike.some(({ code }) => code === location)) return { problem: unknown(chosen, alike) }
  const ignored = others
    .filter(({ source, value }) => source.kind === 'annotation' && value.toLowerCase() !== location)
    .map(
      ({ source, value }) =>
        `annotation ${source.name}: "${value}" is ignored, ${chosen.source.name} says "${location}"`,
    )
  return { location, ignored }
}

function nowhere(sources: LocationSource[]): string {
  const names = (kind: LocationSource['kind']) =>
    sources.filter((source) => source.kind === kind).map((source) => source.name)
  return (
    `nothing says where to reserve the address: set annotation ${names('annotation').join(' or ')} on the Service, ` +
    `or ${names('setting').join(' or ')} for the cluster`
  )
}

function unknown({ source, value }: { source: LocationSource; value: string }, known: Location[]): string {
  const where = source.kind === 'annotation' ? `annotation ${source.name}` : `setting ${source.name}`
  const list = known.map(({ code, name }) => (name === code ? code : `${code} (${name})`)).join(', ')
  const near = nearest(value, known)
  return `${where}: "${value}" is not a known ${source.word}${near ? `, did you mean "${near}"?` : ''}; known: ${list}`
}

/** The code that a person most likely meant: by its name (`dallas`), or by likeness. */
function nearest(value: string, known: Location[]): string | undefined {
  const codes = new Map(known.flatMap(({ code, name }) => [[code, code] as const, [name.toLowerCase(), code] as const]))
  if (codes.size === 0) return undefined
  const word = closest(value.toLowerCase(), [...codes.keys()])
  return distance(value.toLowerCase(), word) <= Math.max(1, value.length / 3) ? codes.get(word) : undefined
}
