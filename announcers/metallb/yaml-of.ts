import { stringify } from 'yaml'

/** The dialect of MetalLB's parser: `no` is false, `<<` merges. */
export const dialect = { version: '1.1', merge: true } as const

/** The style of the tools of Kubernetes; long texts are not folded. */
export const style = { indentSeq: false, lineWidth: 0 } as const

/** What is said twice is written twice: an alias of it would be broken by the next one who edits the first. */
export const plainly = { aliasDuplicateObjects: false } as const

/** A value in YAML, with a line feed at its end. */
export function yamlOf(value: unknown): string {
  return stringify(value, { ...dialect, ...style, ...plainly })
}
