/** A value of the chart. */
export type ValueRow = {
  /** Its place in values.yaml, such as `image.tag`. */
  path: string
  default: unknown
  sentence: string
  /** JSON Schema of the value, where its default does not say enough. */
  schema?: object
}
