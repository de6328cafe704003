import type { WantedObject } from '../announcer.ts'
import { distinct } from '../shared/order.ts'
import { ownLabels, ownName } from './ownership.ts'
import type { ShownAddress } from './pools.ts'
import { type BGPAdvertisement, apiVersion } from './resources.ts'
import { exactSelectors } from './services-selector.ts'

/** The label by which our peer configurations find our advertisement. */
export const advertiseLabel = { 'eip-admission.dev/advertise': 'cloud' }

/**
 * What the cloud's routers learn: the addresses of exactly these Services. The router would refuse any other address, and
 * nobody's inner addresses should reach it.
 */
export function advertisementOf(shown: readonly ShownAddress[]): WantedObject[] {
  const services = distinct(shown.flatMap((one) => one.services))
  if (services.length === 0) return []
  const advertisements = exactSelectors(services).map((selector) => ({
    advertisementType: 'Service',
    service: { addresses: ['LoadBalancerIP'] },
    selector,
  }))
  const object: BGPAdvertisement = {
    apiVersion,
    kind: 'CiliumBGPAdvertisement',
    metadata: { name: ownName, labels: { ...ownLabels, ...advertiseLabel } },
    spec: { advertisements },
  }
  return [{ object, subjects: services.map((service) => ({ service })) }]
}
