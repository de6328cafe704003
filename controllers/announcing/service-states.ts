import type { ServiceState } from './announced.ts'
import { type Service, keyOf } from '../../kube/objects.ts'
import { recordName, secondKeys } from '../../ledger/record/elastic-ip.ts'
import type { Dependencies } from '../dependencies.ts'

/**
 * Every Service, or every selected one, with what it wants and the record of its address, as our caches show them. A
 * Service with two addresses comes once for each.
 */
export function serviceStates(
  { caches, want }: Pick<Dependencies, 'caches' | 'want'>,
  isSelected: (service: Service) => boolean = () => true,
): ServiceState[] {
  return caches.services
    .list()
    .filter(isSelected)
    .flatMap((service) => {
      const key = keyOf(service)
      const seconds = secondKeys(key).flatMap((second) => caches.records.get(recordName(second)) ?? [])
      const wanted = want(service)
      const first = caches.records.get(recordName(key))
      return [{ service, wanted, record: first }, ...seconds.map((record) => ({ service, wanted, record, first }))]
    })
}
