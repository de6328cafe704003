import { closestWord } from '../../lib/closest-word.ts'
import { quote } from '../../lib/quote.ts'
import { isWrittenByUs, serviceAnnotations } from '../record/annotations.ts'
import { ownPrefix } from '../record/names.ts'
import type { AnnotationNames } from '../../settings/service-policy.ts'

/** One problem for each unknown annotation under our prefixes: to ignore it would hide a typo. */
export function unknownAnnotations(annotations: Record<string, string>, names: AnnotationNames): string[] {
  const known = [...names.known, ...serviceAnnotations.map(({ name }) => name)]
  const prefixes = [...names.prefixes, ownPrefix]
  // We never propose an annotation that only we write.
  const proposed = known.filter((name) => !isWrittenByUs(name))
  return Object.keys(annotations)
    .filter((name) => prefixes.some((prefix) => name.startsWith(prefix)) && !known.includes(name))
    .map((name) => {
      const near = closestWord(name, proposed, () => 6)
      const hint = near !== undefined ? `did you mean ${near}?` : `known are ${proposed.join(', ')}`
      return `annotation ${name} (value ${quote(annotations[name] ?? '')}) is not known, ${hint}`
    })
}
