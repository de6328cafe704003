import type { PageFacts } from '../../status-page/model.ts'
import type { ElasticIP, Phase } from '../../ledger/record/elastic-ip.ts'
import type { Node } from '../../kube/objects.ts'

export const nowMs = Date.parse('2026-11-22T12:00:00Z')
export const minutesAgo = (minutes: number) => nowMs - minutes * 60_000

export type RecordFields = { name?: string; phase?: Phase; address?: string; message?: string; minutes?: number }

/** The record of Service `ns/<name>`. */
export function record({ name = 'web', phase = 'Bound', address, message, minutes = 60 }: RecordFields): ElasticIP {
  return {
    apiVersion: 'eip-admission.dev/v1alpha1',
    kind: 'ElasticIP',
    metadata: { name: `ns.${name}`, uid: name, creationTimestamp: new Date(minutesAgo(minutes)).toISOString() },
    spec: { reclaimPolicy: 'Delete', location: 'da', claimRef: { namespace: 'ns', name } },
    status: { phase, ...(address !== undefined && { address }), ...(message !== undefined && { message }) },
  }
}

export function node(
  name: string,
  { isReady = true, providerID }: { isReady?: boolean; providerID?: string } = {},
): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec: providerID === undefined ? {} : { providerID },
    status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'Unknown' }] },
  }
}

/** A process that has just started, and all is well. */
export function facts(more: Partial<PageFacts> = {}): PageFacts {
  return {
    process: {
      version: '1.2.3',
      identity: 'pod_1',
      cluster: 'c',
      startedAtMs: minutesAgo(10),
      residentBytes: 2 ** 26,
      certificate: undefined,
      caches: [],
    },
    cloud: { name: 'packet', calls: [], lastSuccessAtMs: undefined, locations: undefined },
    events: [],
    problems: [],
    ...more,
  }
}
