import type { KubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/errors.ts'
import type { Service } from '../kube/objects.ts'
import { services } from '../kube/resource.ts'
import { balancerFinalizer, serviceFinalizer, isWrittenByUs } from '../ledger/record/names.ts'

/** The answer of eip-admission to a Service: accepted or denied after a review, or not reviewed at all. */
export type Preview =
  | { kind: 'accepted' }
  | { kind: 'denied'; reason: string }
  | { kind: 'unreviewed'; warnings: string[] }
  | { kind: 'unknown'; reason: string }

/**
 * Sends the Service again, under another name and as a dry run. So the running eip-admission itself judges the Service,
 * by settings that we do not know. Nothing is stored or reserved.
 */
export async function preview(client: Pick<KubeClient, 'create'>, service: Service): Promise<Preview> {
  try {
    const warnings: string[] = []
    const onWarning = (text: string) => void warnings.push(text)
    const stored = await client.create(services, copyOf(service), { dryRun: true, timeoutMs: 35_000, onWarning })
    const { finalizers = [] } = stored.metadata
    const isOurs = finalizers.includes(serviceFinalizer) || finalizers.includes(balancerFinalizer)
    return isOurs ? { kind: 'accepted' } : { kind: 'unreviewed', warnings }
  } catch (error) {
    if (!(error instanceof KubeError) || error.status === 0) throw error
    const [, reason] =
      /admission webhook "[^"]*eip-admission[^"]*" denied the request: ([^]*?)(?: \(\d+ \w+\))?$/.exec(error.message) ??
      []
    return reason === undefined ? { kind: 'unknown', reason: error.message } : { kind: 'denied', reason }
  }
}

/** The Service as its user wrote it, without fields that the API server and we added. */
export function copyOf({ apiVersion, kind, metadata, spec }: Service): Service {
  const { clusterIP, clusterIPs: _ips, loadBalancerIP: _address, ports, ...rest } = spec
  const { healthCheckNodePort: _port, ...wanted } = rest as typeof rest & { healthCheckNodePort?: number }
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([name]) => !isWrittenByUs(name))
  return {
    apiVersion,
    kind,
    metadata: {
      name: `${metadata.name.slice(0, 50).replace(/-+$/, '')}-eip-why`,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      ...(metadata.labels && { labels: metadata.labels }),
      annotations: Object.fromEntries(annotations),
    },
    spec: {
      ...wanted,
      ...(clusterIP === 'None' ? { clusterIP } : {}),
      ...(ports && { ports: ports.map(({ nodePort: _node, ...port }) => port) }),
    },
  }
}
