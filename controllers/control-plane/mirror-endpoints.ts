import { isDeepStrictEqual } from 'node:util'
import type { EndpointSlice, Endpoints, Service } from '../../kube/objects.ts'
import { type MirrorSeen, isOurSlice, managedByLabel, mirrorSlices, mirrorSubsets } from './mirror-objects.ts'

// Nodes read only EndpointSlices, so we write slices. A predecessor wrote Endpoints, from which a Kubernetes controller
// makes its own slices. While these Endpoints exist, we correct them instead, so that no endpoint appears twice.

export type SliceStep = { do: 'create-slice' | 'change-slice' | 'remove-slice'; slice: EndpointSlice }

const skipMirrorLabel = 'endpointslice.kubernetes.io/skip-mirror'
const mirroringController = 'endpointslicemirroring-controller.k8s.io'

/** The changes to a predecessor's Endpoints. */
export function planSubsets(seen: MirrorSeen): { do: 'change-endpoints'; endpoints: Endpoints } | undefined {
  const { endpoints } = seen
  if (!endpoints || isEmpty(seen)) return undefined
  const subsets = mirrorSubsets(seen)
  return isDeepStrictEqual(linesOf(endpoints.subsets), linesOf(subsets))
    ? undefined
    : { do: 'change-endpoints', endpoints: { ...endpoints, subsets } }
}

/** The changes to our slices. */
export function planSlices(seen: MirrorSeen & { service: Service }): SliceStep | undefined {
  if (isEmpty(seen)) return undefined
  const wanted = areMirrored(seen) ? [] : mirrorSlices(seen, seen.service)
  const byName = new Map(seen.slices.map((slice) => [slice.metadata.name, slice]))
  for (const slice of wanted) {
    const step = changeOf(slice, byName.get(slice.metadata.name))
    if (step) return step
  }
  const names = new Set(wanted.map(({ metadata }) => metadata.name))
  const stray = seen.slices.find((slice) => isOurSlice(slice) && !names.has(slice.metadata.name))
  return stray && { do: 'remove-slice', slice: stray }
}

/** An API server answers us, so a list without any cannot be true. */
function isEmpty({ source }: MirrorSeen): boolean {
  return source.slices.every(({ endpoints }) => (endpoints ?? []).length === 0)
}

/**
 * Whether Kubernetes makes slices from a predecessor's Endpoints. Only existing slices prove it, because the controller
 * may be off.
 */
function areMirrored({ endpoints, slices }: MirrorSeen): boolean {
  if (!endpoints || endpoints.metadata.labels?.[skipMirrorLabel] === 'true') return false
  return slices.some(({ metadata }) => metadata.labels?.[managedByLabel] === mirroringController)
}

function changeOf(wanted: EndpointSlice, found: EndpointSlice | undefined): SliceStep | undefined {
  if (!found) return { do: 'create-slice', slice: wanted }
  // The address type is immutable.
  if (found.addressType !== wanted.addressType) return { do: 'remove-slice', slice: found }
  const labels = { ...found.metadata.labels, ...wanted.metadata.labels }
  const metadata = { ...found.metadata, ...wanted.metadata, labels }
  const isSame = isDeepStrictEqual(metadata, found.metadata) && isDeepStrictEqual(contentOf(found), contentOf(wanted))
  return isSame ? undefined : { do: 'change-slice', slice: { ...wanted, metadata } }
}

function contentOf({ endpoints, ports }: EndpointSlice): object {
  return { endpoints: endpoints ?? [], ports: ports ?? [] }
}

/** Each address with each port, because the API server regroups them. */
function linesOf(subsets: Endpoints['subsets'] = []): string[] {
  return subsets
    .flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
      ports.flatMap(({ name = '', port, protocol = 'TCP' }) => [
        ...addresses.map(({ ip }) => `${ip} ${name} ${port} ${protocol}`),
        ...notReadyAddresses.map(({ ip }) => `${ip} ${name} ${port} ${protocol} not ready`),
      ]),
    )
    .toSorted()
}
