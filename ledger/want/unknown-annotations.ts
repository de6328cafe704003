import { closestWord } from '../../lib/closest-word.ts'
import { isWrittenByUs } from '../record/annotations.ts'

/** The annotations of a Service that mean something to us, and the prefixes under which every other is a mistake. */
export type AnnotationNames = { known: string[]; prefixes: string[] }

/** One problem for each annotation under our prefixes that we do not know; ignoring it would hide a typo. */
export function unknownAnnotations(annotations: Record<string, string>, names: AnnotationNames): string[] {
  // We never propose an annotation that only we write.
  const proposed = names.known.filter((name) => !isWrittenByUs(name))
  return Object.keys(annotations)
    .filter((name) => names.prefixes.some((prefix) => name.startsWith(prefix)) && !names.known.includes(name))
    .map((name) => {
      const near = closestWord(name, proposed, () => 6)
      const hint = near !== undefined ? `did you mean ${near}?` : `known are ${proposed.join(', ')}`
      return `annotation ${name}: "${annotations[name]}" is not known, ${hint}`
    })
}
