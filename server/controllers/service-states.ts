import type { ServiceState } from '../../controllers/announcing/announced.ts'
import { keyOf } from '../../kube/objects.ts'
import { recordName } from '../../ledger/record/elastic-ip.ts'
import type { Dependencies } from '../dependencies.ts'

/** Every Service with what it wants and the record of its address, as our caches show them. */
export function serviceStates({ caches, want }: Pick<Dependencies, 'caches' | 'want'>): ServiceState[] {
  return caches.services.list().map((service) => {
    return { service, wanted: want(service), record: caches.records.get(recordName(keyOf(service))) }
  })
}
