import type { ServiceState } from './announced.ts'
import { type Service, keyOf } from '../../kube/objects.ts'
import { recordName } from '../../ledger/record/elastic-ip.ts'
import type { Dependencies } from '../dependencies.ts'

/** Every Service, or every selected one, with what it wants and the record of its address, as our caches show them. */
export function serviceStates(
  { caches, want }: Pick<Dependencies, 'caches' | 'want'>,
  isSelected: (service: Service) => boolean = () => true,
): ServiceState[] {
  return caches.services
    .list()
    .filter(isSelected)
    .map((service) => ({ service, wanted: want(service), record: caches.records.get(recordName(keyOf(service))) }))
}
