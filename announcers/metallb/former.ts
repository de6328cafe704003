import type { DocumentConfiguration, FormerConfiguration } from '../announcer.ts'
import { type ObjectOptions, metallbObjects } from './objects.ts'
import { isWritten, ownSelector } from './ownership.ts'
import { bgpAdvertisements, bgpPeers, ipAddressPools } from './resources.ts'

/** What we may have configured for MetalLB while the load balancer setting was another one, in any namespace. */
export function formerMetallb(
  options: Omit<ObjectOptions, 'namespace'>,
  document: DocumentConfiguration,
): FormerConfiguration {
  return {
    selector: ownSelector,
    kinds: [bgpAdvertisements, ipAddressPools, bgpPeers],
    configurations(found) {
      const namespaces = new Set(found.map(({ metadata }) => metadata.namespace ?? ''))
      return [...namespaces].map((namespace) => {
        const configuration = metallbObjects({ ...options, namespace })
        return { ...configuration, isOurs: (object) => isWritten(object) && configuration.isOurs(object) }
      })
    },
    document,
  }
}
