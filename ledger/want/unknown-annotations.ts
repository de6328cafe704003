import { closestWord } from '../../lib/closest-word.ts'
import { quote } from '../../lib/quote.ts'
import { isWrittenByUs } from '../record/annotations.ts'

/** The annotations of a Service that we read or write, and the prefixes under which any other one is a mistake. */
export type AnnotationNames = { known: string[]; prefixes: string[] }

/** One problem for each unknown annotation under our prefixes: to ignore it would hide a typo. */
export function unknownAnnotations(annotations: Record<string, string>, names: AnnotationNames): string[] {
  // We never propose an annotation that only we write.
  const proposed = names.known.filter((name) => !isWrittenByUs(name))
  return Object.keys(annotations)
    .filter((name) => names.prefixes.some((prefix) => name.startsWith(prefix)) && !names.known.includes(name))
    .map((name) => {
      const near = closestWord(name, proposed, () => 6)
      const hint = near !== undefined ? `did you mean ${near}?` : `known are ${proposed.join(', ')}`
      return `annotation ${name} (value ${quote(annotations[name] ?? '')}) is not known, ${hint}`
    })
}
