import type { KubeClient } from '../../kube/client.ts'
import type { Service } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { serviceFinalizer } from '../../ledger/record/names.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'

/** Waits until our webhook reviews creates: the API server learns of its configuration a moment after it is stored. */
export async function untilReviewed(client: KubeClient): Promise<void> {
  const probe = loadBalancer('is-reviewed', { namespace: 'default' }) as Service
  await eventually('a dry run of a create is reviewed', async (observe) => {
    const answer = await client.create(services, probe, { dryRun: true }).catch((error: unknown) => String(error))
    const { metadata } = typeof observe(answer) === 'string' ? {} : (answer as Service)
    return metadata?.finalizers?.includes(serviceFinalizer) || undefined
  })
}
