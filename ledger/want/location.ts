import { closestWord } from '../../lib/closest-word.ts'
import type { Location } from '../../clouds/cloud.ts'

/** One place that may say where an address is reserved: a setting for the whole cluster, or a Service's annotation. */
export type LocationSource =
  | { kind: 'setting'; word: string; name: string; value: string | undefined }
  | { kind: 'annotation'; word: string; name: string }

export type Located = { location: string; warnings: string[] } | { problem: string }

/** What one source says, and the code of the place that it means, where that is known to be one. */
type Said = { source: LocationSource; value: string; code: string | undefined }

/**
 * Where a Service's address is to be reserved: the first source that says anything. `known` are the cloud's own
 * locations; without them any value passes and the cloud is the judge.
 */
export function locate(
  annotations: Record<string, string>,
  sources: LocationSource[],
  known: Location[] | undefined,
): Located {
  const said = sources.flatMap((source): Said[] => {
    const value = source.kind === 'setting' ? source.value : annotations[source.name]
    return value === undefined || value === '' ? [] : [{ source, value, code: codeOf(source, { value, known }) }]
  })
  const [chosen, ...others] = said
  if (!chosen) return { problem: nowhere(sources) }
  const { code: location } = chosen
  if (location === undefined) return { problem: unknown(chosen, alike(chosen.source, known)) }
  const former =
    chosen.source.kind === 'annotation' ? formerName(chosen.source, { value: chosen.value, known }) : undefined
  const ignored = others
    .filter(({ source, value, code = value }) => source.kind === 'annotation' && code !== location)
    .map(
      ({ source, value }) =>
        `annotation ${source.name}: "${value}" is ignored, ${chosen.source.name} says "${location}"`,
    )
  return { location, warnings: former === undefined ? ignored : [former, ...ignored] }
}

/** Why a value of a source should not be used any more, although it is still understood. */
export function formerName(
  { kind, word, name }: LocationSource,
  { value, known }: { value: string | undefined; known: Location[] | undefined },
): string | undefined {
  const place = known?.find((one) => one.kind === word && one.formerNames?.some(isWrittenAs(value ?? '')))
  return place && `${kind} ${name}: "${value}" is what ${word} ${place.code} was called before, write "${place.code}"`
}

function codeOf(source: LocationSource, { value, known }: { value: string; known: Location[] | undefined }) {
  // While nothing is known it may be a code letter for letter.
  if (!known) return value
  const places = alike(source, known)
  // A cloud that lists none of a kind may still take its codes.
  if (places.length === 0) return value.toLowerCase()
  const names = ({ code, aliases = [], formerNames = [] }: Location) => [code, ...aliases, ...formerNames]
  return places.find((place) => names(place).some(isWrittenAs(value)))?.code
}

function alike({ word }: LocationSource, known: Location[] | undefined): Location[] {
  return known?.filter(({ kind }) => kind === word) ?? []
}

/** People write names with the capitals that they like. */
function isWrittenAs(value: string): (name: string) => boolean {
  return (name) => name.toLowerCase() === value.trim().toLowerCase()
}

function nowhere(sources: LocationSource[]): string {
  const names = (kind: LocationSource['kind']) =>
    sources.filter((source) => source.kind === kind).map((source) => source.name)
  const ways = [
    ...(names('annotation').length > 0 ? [`annotation ${names('annotation').join(' or ')} on the Service`] : []),
    `${names('setting').join(' or ')} for the cluster`,
  ]
  return `nothing says where to reserve the address: set ${ways.join(', or ')}`
}

function unknown({ source, value }: Said, known: Location[]): string {
  const where = source.kind === 'annotation' ? `annotation ${source.name}` : `setting ${source.name}`
  const list = known.map(({ code, name }) => (name === code ? code : `${code} (${name})`)).join(', ')
  const near = nearest(value, known)
  return `${where}: "${value}" is not a known ${source.word}${near ? `, did you mean "${near}"?` : ''}; known: ${list}`
}

/** The code that a person most likely meant: by its name (`dallas`), by a word of it (`Chicago`), or by likeness. */
function nearest(value: string, known: Location[]): string | undefined {
  const called = known.flatMap(({ code, name }) => [code, name].map((said) => [said.toLowerCase(), code] as const))
  // Short words are codes of countries and numbers of buildings: every other short word is like them.
  const words = called.flatMap(([said, code]) =>
    (said.match(/[\p{L}\p{N}]{4,}/gu) ?? []).map((word) => [word, code] as const),
  )
  const codes = new Map([...words, ...called])
  return codes.get(closestWord(value, [...codes.keys()], () => Math.max(1, value.length / 3)) ?? '')
}
