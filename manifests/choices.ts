/** A condition on values of the chart: one is set (not empty, false or 0) or equals something, or any of several is set. */
export type Condition = { value: string; is?: string | number } | { anyOf: readonly string[] }

/**
 * The values that decide what is installed. The objects are built once from these questions. There are two kinds of
 * answers: known values, for manifests without Helm, and references that Helm resolves, for the chart.
 */
export type Choices = {
  /** A value inside a text. */
  text: (path: string) => string
  /** A number, or true or false. */
  scalar: (path: string) => unknown
  /** A map or a list as the user wrote it; absent if it is empty. */
  block: (path: string) => unknown
  /** The entries of a map, to spread into a map. */
  entries: (path: string) => object
  /** The items of a list, or a text of such items, separated by commas; `otherwise` if there is none. */
  joined: (path: string, otherwise: string) => string
  /** The items of a list, to spread into a list. */
  items: (path: string) => unknown[]
  /** `then`, a map entry or a list item, if the condition is met; absent otherwise. */
  when: (condition: Condition, then: unknown) => unknown
  /** The same if the condition is not met. */
  unless: (condition: Condition, then: unknown) => unknown
  /** A choice of two numbers. */
  either: (condition: Condition, then: number, otherwise: number) => unknown
  /** The settings of the process as flags, in the order of their names. */
  flags: (path: string) => unknown[]
  /** The installer's own decisions. */
  release: Release
  /** The reference of the image. */
  image: string
  /** The secret segment of the webhooks' paths. */
  pathSecret: string
  /** A text as the data of a Secret. */
  base64: (text: string) => string
  /** A text whose braces are not for Helm, but for the program that reads the object. */
  literal: (text: string) => string
}

/** `chart` is the chart and its version, if Helm installs one. */
export type Release = { namespace: string; name: string; manager: string; version: string; chart?: string }

export type ValueTree = { [name: string]: unknown }

/** The value at a path such as `image.tag`; a name in it may have dashes, but no dots. */
export function valueAt(values: ValueTree, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((at, name) => (isMap(at) && Object.hasOwn(at, name) ? at[name] : undefined), values)
}

/** Whether a value counts as set, as in Helm's `if` and `with`. */
export function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (isMap(value)) return Object.keys(value).length > 0
  return Boolean(value)
}

/** Whether known values meet a condition. */
export function isMet(values: ValueTree, condition: Condition): boolean {
  if ('anyOf' in condition) return condition.anyOf.some((path) => isSet(valueAt(values, path)))
  const { value, is } = condition
  return is === undefined ? isSet(valueAt(values, value)) : valueAt(values, value) === is
}

/** Whether a value is an object of names and values. */
export function isMap(value: unknown): value is ValueTree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
