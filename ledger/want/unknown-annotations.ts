import { closest, distance } from 'fastest-levenshtein'
import { addressAnnotation, withdrawingAnnotation } from '../record/names.ts'

/** The annotations of a Service that we read or write, and the prefixes under which any other one is a mistake. */
export type AnnotationNames = { known: string[]; prefixes: string[] }

/** One problem for each unknown annotation under our prefixes: to ignore it would hide a typo. */
export function unknownAnnotations(annotations: Record<string, string>, names: AnnotationNames): string[] {
  // Users do not write these two: we do.
  const proposed = names.known.filter((name) => name !== addressAnnotation && name !== withdrawingAnnotation)
  return Object.keys(annotations)
    .filter((name) => names.prefixes.some((prefix) => name.startsWith(prefix)) && !names.known.includes(name))
    .map((name) => {
      const near = closest(name, proposed)
      const hint = distance(name, near) <= 6 ? `did you mean ${near}?` : `known are ${proposed.join(', ')}`
      return `annotation ${name}: "${annotations[name]}" is not known, ${hint}`
    })
}
