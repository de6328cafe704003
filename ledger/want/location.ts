import { closestWord, quote } from '../../lib/text.ts'
import type { Location } from '../../clouds/ports/cloud.ts'
import type { LocationSource } from '../../settings/service-policy.ts'

export type Located = { location: string; warnings: string[] } | { problem: string }

/** The value of a source, and the code of the location that it names; undefined if it names no known one. */
type Candidate = { source: LocationSource; value: string; code: string | undefined }

/**
 * Decides where to reserve a Service's address: the first source with a value wins. `known` are the provider's
 * locations. Without them any value passes, and the provider refuses a wrong one.
 */
export function locate(
  annotations: Record<string, string>,
  sources: LocationSource[],
  known: Location[] | undefined,
): Located {
  const candidates = sources.flatMap((source): Candidate[] => {
    const value = source.kind === 'setting' ? source.value : annotations[source.name]
    return value === undefined || value === '' ? [] : [{ source, value, code: codeOf(source, { value, known }) }]
  })
  const [chosen, ...others] = candidates
  if (!chosen) return { problem: noLocationProblem(sources) }
  const { code: location } = chosen
  if (location === undefined) return { problem: unknownProblem(chosen, ofSameKind(chosen.source, known)) }
  const former =
    chosen.source.kind === 'annotation' ? formerName(chosen.source, { value: chosen.value, known }) : undefined
  const ignored = others
    .filter(({ source, value, code = value }) => source.kind === 'annotation' && code !== location)
    .map(
      ({ source, value }) =>
        `annotation ${source.name}: ${quote(value)} is ignored, ${chosen.source.name} says ${quote(location)}`,
    )
  return { location, warnings: former === undefined ? ignored : [former, ...ignored] }
}

/** The warning about a value that still works, but is an old name of its location. */
export function formerName(
  { kind, word, name }: LocationSource,
  { value, known }: { value: string | undefined; known: Location[] | undefined },
): string | undefined {
  const place = known?.find((one) => one.kind === word && one.formerNames?.some(isWrittenAs(value ?? '')))
  return place && `${kind} ${name}: "${value}" is a previous name of ${word} ${place.code}, write "${place.code}"`
}

function codeOf(source: LocationSource, { value, known }: { value: string; known: Location[] | undefined }) {
  // Until the locations are known, the value may be an exact code.
  if (!known) return value
  const places = ofSameKind(source, known)
  // The provider may list no location of a kind and still accept its codes.
  if (places.length === 0) return value.toLowerCase()
  const names = ({ code, aliases = [], formerNames = [] }: Location) => [code, ...aliases, ...formerNames]
  return places.find((place) => names(place).some(isWrittenAs(value)))?.code
}

function ofSameKind({ word }: LocationSource, known: Location[] | undefined): Location[] {
  return known?.filter(({ kind }) => kind === word) ?? []
}

/** Compares names as users write them: in upper or lower case. */
function isWrittenAs(value: string): (name: string) => boolean {
  return (name) => name.toLowerCase() === value.trim().toLowerCase()
}

function noLocationProblem(sources: LocationSource[]): string {
  const names = (kind: LocationSource['kind']) =>
    sources.filter((source) => source.kind === kind).map((source) => source.name)
  const ways = [
    ...(names('annotation').length > 0 ? [`annotation ${names('annotation').join(' or ')} on the Service`] : []),
    `${names('setting').join(' or ')} for the cluster`,
  ]
  return `no location is set for the address: set ${ways.join(', or ')}`
}

function unknownProblem({ source, value }: Candidate, known: Location[]): string {
  const where = source.kind === 'annotation' ? `annotation ${source.name}` : `setting ${source.name}`
  const list = known.map(({ code, name }) => (name === code ? code : `${code} (${name})`)).join(', ')
  const near = nearest(value, known)
  return `${where}: ${quote(value)} is not a known ${source.word}${near ? `; did you mean "${near}"? Known: ` : '; known: '}${list}`
}

/** The code that a user most likely meant: by its name (`dallas`), by a word in its name (`Chicago`), or by similarity. */
function nearest(value: string, known: Location[]): string | undefined {
  const called = known.flatMap(({ code, name }) => [code, name].map((text) => [text.toLowerCase(), code] as const))
  // Short words are country codes and building numbers, which resemble any other short word.
  const words = called.flatMap(([text, code]) =>
    (text.match(/[\p{L}\p{N}]{4,}/gu) ?? []).map((word) => [word, code] as const),
  )
  const codes = new Map([...words, ...called])
  return codes.get(closestWord(value, [...codes.keys()], () => Math.max(1, value.length / 3)) ?? '')
}
