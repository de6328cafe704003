import type { KubeClient } from '../../kube/client.ts'
import type { Service } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { type ElasticIP, elasticIPs } from '../../ledger/record/elastic-ip.ts'
import type { Product } from '../../sandbox/product.ts'
import { eventually } from './eventually.ts'

/** Live reads without kubectl: a test that waits reads often, and a process for each read is slow. */
export type Stored = {
  service(name: string, namespace?: string): Promise<Service | undefined>
  record(name: string, namespace?: string): Promise<ElasticIP | undefined>
  /** Waits until a Service shows its address in its status and its record is bound; returns the address. */
  settled(name: string, namespace?: string): Promise<string>
  /** Waits until a Service and its record no longer exist. */
  gone(name: string, namespace?: string): Promise<void>
}

/** Reads Services and their records. */
export function stored(client: KubeClient): Stored {
  const service: Stored['service'] = (name, namespace = 'default') => client.get(services, { namespace, name })
  const record: Stored['record'] = (name, namespace = 'default') =>
    client.get(elasticIPs, { name: `${namespace}.${name}` })
  const both = (name: string, namespace: string) => Promise.all([service(name, namespace), record(name, namespace)])
  return {
    service,
    record,
    settled: (name, namespace = 'default') =>
      eventually(`${namespace}/${name} shows its address and is bound`, async (observe) => {
        const [seen, held] = observe(await both(name, namespace))
        const address = shownIn(seen)
        const bound = held?.status?.phase === 'Bound' && held.spec.claimRef?.uid === seen?.metadata.uid
        return bound && held.status?.address === address && seen?.spec.loadBalancerIP === address ? address : undefined
      }),
    gone: (name, namespace = 'default') =>
      eventually(`${namespace}/${name} and its record no longer exist`, async (observe) => {
        return observe(await both(name, namespace)).every((object) => object === undefined) || undefined
      }).then(() => undefined),
  }
}

/** The address in the status of a Service. */
export function shownIn(service: Service | undefined): string | undefined {
  return service?.status?.loadBalancer?.ingress?.[0]?.ip
}

/** How many addresses a process has in its cache, by its metrics. */
export async function knownAddresses(product: Pick<Product, 'health'>): Promise<number> {
  const { text } = await product.health('/metrics')
  const counts = [...text.matchAll(/^eip_admission_addresses\{.*\} (\d+)$/gm)].map(([, count]) => Number(count))
  return counts.reduce((sum, count) => sum + count, 0)
}
