// What a running kube-vip announces, by what it remembers of the Services that it has seen.
import type { Service } from '../../kube/objects.ts'
import { keyOf } from '../../kube/objects.ts'
import { type Release, rulesOf } from './kube-vip-releases.ts'
import { readService } from './kube-vip-service.ts'

export type KubeVipProcess = {
  /** Takes in all Services as they are now; returns every address that it announces. */
  see(services: Service[]): string[]
}

/** What it remembers of a Service: `names` is the list of host names that it keeps beside the addresses. */
type Instance = { addresses: string[]; names: 'none' | 'empty'; hasLeft: boolean }

/** A kube-vip that has just been started. */
export function startedKubeVip(release: Release): KubeVipProcess {
  const instances = new Map<string, Instance>()
  return {
    see(services) {
      const there = new Map(services.map((service) => [service.metadata.uid ?? keyOf(service), service]))
      // Only a Service that is gone is withdrawn.
      for (const uid of instances.keys()) if (!there.has(uid)) instances.delete(uid)
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
  if (!known) return addresses.length > 0 ? { addresses, names, hasLeft: false } : undefined
  // It looks at no Service of another type, so its routes stay.
  if (service.spec.type !== 'LoadBalancer') return { ...known, hasLeft: true }
  const isConfused = rulesOf(release).comparesNames && (known.names !== names || known.hasLeft)
  if (isConfused || known.addresses.length === 0) return { ...known, addresses: [] }
  return addresses.length > 0 ? { addresses, names, hasLeft: false } : known
}
