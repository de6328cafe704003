/** A tree of fields as in `metadata.managedFields`: `f:` and the field's name, down to `{}`. */
type FieldSet = { [field: string]: FieldSet }

/** The fields that one manager set. */
export type ManagedFieldsEntry = {
  time?: string
  manager?: string
  operation?: string
  subresource?: string
  fieldsV1?: FieldSet
}

/** The managers that set a field, such as `['metadata', 'annotations', 'example.com/name']`. */
export function managersOf(managedFields: readonly ManagedFieldsEntry[], path: readonly string[]): string[] {
  return managedFields.filter(({ fieldsV1 }) => hasField(fieldsV1, path)).map(({ manager = '' }) => manager)
}

/** The annotations that one manager set. */
export function annotationsOf(managedFields: readonly ManagedFieldsEntry[], manager: string): string[] {
  return managedFields
    .filter((entry) => entry.manager === manager)
    .flatMap(({ fieldsV1 }) => Object.keys(fieldsV1?.['f:metadata']?.['f:annotations'] ?? {}))
    .filter((field) => field !== '.')
    .map((field) => field.replace(/^f:/, ''))
}

function hasField(fields: FieldSet | undefined, [first, ...others]: readonly string[]): boolean {
  return fields !== undefined && (first === undefined || hasField(fields[`f:${first}`], others))
}
