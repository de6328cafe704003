import { stringify } from 'yaml'

/** The YAML version of MetalLB's parser: `no` is false, `<<` merges. */
export const dialect = { version: '1.1', merge: true } as const

/** The style of the Kubernetes tools; long texts are not folded. */
export const style = { indentSeq: false, lineWidth: 0 } as const

/** Equal values are written twice, without an alias: a person who edits the first would change the second too. */
export const withoutAliases = { aliasDuplicateObjects: false } as const

/** A value as YAML that ends with a line feed. */
export function yamlOf(value: unknown): string {
  return stringify(value, { ...dialect, ...style, ...withoutAliases })
}
