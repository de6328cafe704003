import type { Service } from '../kube/objects.ts'
import { addressAnnotation } from './names.ts'

/** How a Service asks the announcing software for an address, beside `spec.loadBalancerIP`. */
export type Asking = {
  annotations: string[]
  /** Whether an annotation may stand beside a `spec.loadBalancerIP` that says the same; else the Service is refused. */
  besideSpec: boolean
}

/** The address that a person brought with a Service, and where they wrote it; one that we wrote is not theirs. */
export function ownAddress(service: Service, asking: Asking): { address: string; where: string } | undefined {
  const { loadBalancerIP: address = '' } = service.spec
  const asks = asksOf(service, asking).map(([name, said]) => ({ address: said, where: `annotation ${name}` }))
  const ours = service.metadata.annotations?.[addressAnnotation]
  return [{ address, where: 'spec.loadBalancerIP' }, ...asks].find((own) => own.address && own.address !== ours)
}

/** The annotation by which a Service that has no address of ours asks for several: we have never more than one. */
export function asksForSeveral(service: Service, asking: Asking): string | undefined {
  if (service.metadata.annotations?.[addressAnnotation] !== undefined) return undefined
  return asksOf(service, asking).find(([, said]) => said.includes(','))?.[0]
}

/** The annotations that must not stay on a Service to which we give this address, or one that is still to come. */
export function outdatedAsks(
  service: Service,
  { annotations, besideSpec }: Asking,
  address: string | undefined,
): string[] {
  const asks = asksOf(service, { annotations })
  return asks.filter(([, said]) => !(besideSpec && said === address)).map(([name]) => name)
}

/** The annotations that ask for an address, which is to go from the Service. */
export function asksFor(service: Service, asking: Asking, address: string | undefined): string[] {
  return asksOf(service, asking)
    .filter(([, said]) => said === address)
    .map(([name]) => name)
}

function asksOf({ metadata }: Service, { annotations: names }: Pick<Asking, 'annotations'>): [string, string][] {
  return names.flatMap((name): [string, string][] => {
    const said = metadata.annotations?.[name]
    return said ? [[name, said]] : []
  })
}
