import type { Service } from '../../kube/objects.ts'
import { addressAnnotation } from '../record/names.ts'

/** How a Service asks the announcing software for an address, beside `spec.loadBalancerIP`. */
export type RequestAnnotations = {
  annotations: string[]
  /** Whether an annotation may stand beside a `spec.loadBalancerIP` that says the same; else the Service is refused. */
  besideSpec: boolean
}

/** The address that a person brought with a Service, and where they wrote it; one that we wrote is not theirs. */
export function ownAddress(
  service: Service,
  requestAnnotations: RequestAnnotations,
): { address: string; where: string } | undefined {
  const { loadBalancerIP: address = '' } = service.spec
  const asks = requestsOf(service, requestAnnotations).map(([name, said]) => ({
    address: said,
    where: `annotation ${name}`,
  }))
  const ours = service.metadata.annotations?.[addressAnnotation]
  return [{ address, where: 'spec.loadBalancerIP' }, ...asks].find((own) => own.address && own.address !== ours)
}

/** The annotation by which a Service that has no address of ours asks for several: we have never more than one. */
export function multipleAddressAnnotation(
  service: Service,
  requestAnnotations: RequestAnnotations,
): string | undefined {
  if (service.metadata.annotations?.[addressAnnotation] !== undefined) return undefined
  return requestsOf(service, requestAnnotations).find(([, said]) => said.includes(','))?.[0]
}

/** The annotations that must not stay on a Service to which we give this address, or one that is still to come. */
export function outdatedRequestAnnotations(
  service: Service,
  { annotations, besideSpec }: RequestAnnotations,
  address: string | undefined,
): string[] {
  const asks = requestsOf(service, { annotations })
  return asks.filter(([, said]) => !(besideSpec && said === address)).map(([name]) => name)
}

/** The annotations that ask for an address, which is to go from the Service. */
export function annotationsRequesting(
  service: Service,
  requestAnnotations: RequestAnnotations,
  address: string | undefined,
): string[] {
  return requestsOf(service, requestAnnotations)
    .filter(([, said]) => said === address)
    .map(([name]) => name)
}

function requestsOf(
  { metadata }: Service,
  { annotations: names }: Pick<RequestAnnotations, 'annotations'>,
): [string, string][] {
  return names.flatMap((name): [string, string][] => {
    const said = metadata.annotations?.[name]
    return said ? [[name, said]] : []
  })
}
