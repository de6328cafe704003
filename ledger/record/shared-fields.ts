import { isDeepStrictEqual } from 'node:util'
import type { ManagedFieldsEntry } from '../../kube/managed-fields.ts'
import { ownPrefix, serviceFieldManager } from './names.ts'

/**
 * Our entries in a Service's managed fields for fields that people write too: `spec.loadBalancerIP`, and annotations of
 * the announcing software. A manifest with such a field would conflict with us at each server-side apply. A change by
 * admission has no field manager, and our later writes must not have one either.
 */
export function entriesWithSharedFields(entries: readonly ManagedFieldsEntry[] = []): ManagedFieldsEntry[] {
  return entries.filter((entry) => isOfServices(entry) && !isDeepStrictEqual(withoutShared(entry), entry))
}

/** The managed fields without those that people write too. Other managers of those fields keep them. */
export function withoutSharedFields(entries: readonly ManagedFieldsEntry[] = []): ManagedFieldsEntry[] {
  return entries.flatMap((entry) => {
    const kept = isOfServices(entry) ? withoutShared(entry) : entry
    return Object.keys(kept.fieldsV1 ?? {}).length > 0 ? [kept] : []
  })
}

function isOfServices({ manager, subresource }: ManagedFieldsEntry): boolean {
  return manager === serviceFieldManager && !subresource
}

function withoutShared({ fieldsV1 = {}, ...entry }: ManagedFieldsEntry): ManagedFieldsEntry {
  const { 'f:spec': _spec, 'f:metadata': metadata = {}, ...others } = fieldsV1
  const { 'f:annotations': annotations = {}, ...ofMetadata } = metadata
  const isOurs = (field: string) => field === '.' || field.startsWith(`f:${ownPrefix}`)
  const own = Object.fromEntries(Object.entries(annotations).filter(([field]) => isOurs(field)))
  const kept = { ...ofMetadata, ...(Object.keys(own).length > 0 && { 'f:annotations': own }) }
  return { ...entry, fieldsV1: { ...others, ...(Object.keys(kept).length > 0 && { 'f:metadata': kept }) } }
}
