// A running kube-vip and its announcements, by its memory of the Services that it has seen.
import type { Service } from '../../kube/objects.ts'
import { keyOf } from '../../kube/objects.ts'
import { type Release, rulesOf } from './kube-vip-releases.ts'
import { isHeededOnDeletion, readService } from './kube-vip-service.ts'

export type KubeVipProcess = {
  /** Takes in all Services as they are now; returns every address that it announces. */
  see(services: Service[]): string[]
}

/**
 * Its memory of a Service: `names` is the list of host names that it keeps beside the addresses. `isHeeded`: it would
 * heed the deletion of the Service as that was last.
 */
type Instance = { addresses: string[]; names: 'none' | 'empty'; hasLeft: boolean; isHeeded: boolean }

/** A kube-vip that has just been started. */
export function startedKubeVip(release: Release): KubeVipProcess {
  const instances = new Map<string, Instance>()
  return {
    see(services) {
      const there = new Map(services.map((service) => [service.metadata.uid ?? keyOf(service), service]))
      // Only a Service that is gone is withdrawn, and none that was last of another type, or to be ignored.
      for (const [uid, { isHeeded }] of instances) if (isHeeded && !there.has(uid)) instances.delete(uid)
      for (const [uid, service] of there) {
        const next = nextInstance(instances.get(uid), service, release)
        if (next) instances.set(uid, next)
      }
      return [...new Set([...instances.values()].flatMap(({ addresses }) => addresses))].toSorted()
    },
  }
}

function nextInstance(known: Instance | undefined, service: Service, release: Release): Instance | undefined {
  const addresses = readService(service, release)
  // An annotation leaves no list of host names, and the spec or the status an empty one.
  const names = service.metadata.annotations?.['kube-vip.io/loadbalancerIPs'] === undefined ? 'empty' : 'none'
  const isHeeded = isHeededOnDeletion(service)
  if (!known) return addresses.length > 0 ? { addresses, names, hasLeft: false, isHeeded } : undefined
  // It looks at no Service of another type, so its routes stay.
  if (service.spec.type !== 'LoadBalancer') return { ...known, hasLeft: true, isHeeded }
  const isConfused = rulesOf(release).comparesNames && (known.names !== names || known.hasLeft)
  if (isConfused || known.addresses.length === 0) return { ...known, addresses: [], isHeeded }
  return addresses.length > 0 ? { addresses, names, hasLeft: false, isHeeded } : { ...known, isHeeded }
}
