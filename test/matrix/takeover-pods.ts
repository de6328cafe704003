// What kubelets do for a predecessor's workload: they run its pods, which hold its lease.
import { randomUUID } from 'node:crypto'
import { systemClock } from '../../kube/clock.ts'
import { leaseRecord } from '../../kube/lease.ts'
import type { TestStage } from '../whole/test-stage.ts'
import { type Shape, predecessor } from './takeover-shapes.ts'

/** Its pods run while it may: a DaemonSet until its selector fits no node. */
export function runPods(
  { client, run }: Pick<TestStage, 'client' | 'run'>,
  { kind, leaderElect }: Shape,
): { stop: () => Promise<void> } {
  const { workload } = predecessor
  const over = new AbortController()
  const record = leaseRecord({
    client,
    lease: predecessor.lease,
    identity: `node-a_${randomUUID()}`,
    leaseDurationMs: 2_000,
    callTimeoutMs: 5_000,
    clock: systemClock,
  })
  const of = [kind.toLowerCase(), workload.name, '-n', workload.namespace]
  const turn = async () => {
    const stored = JSON.parse(await run('get', ...of, '-o', 'json')) as {
      spec: { replicas?: number; template: { spec: { nodeSelector?: Record<string, string> } } }
    }
    const selector = stored.spec.template.spec.nodeSelector ?? {}
    const runs =
      kind === 'Deployment' ? stored.spec.replicas === 1 : !('eip-admission.dev/stopped-by-takeover' in selector)
    const count = runs ? 1 : 0
    // It never releases its lease.
    if (runs && leaderElect) await record.claim()
    const status =
      kind === 'Deployment'
        ? { replicas: count, readyReplicas: count }
        : { currentNumberScheduled: count, desiredNumberScheduled: count, numberMisscheduled: 0, numberReady: count }
    await run('patch', ...of, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status }))
  }
  const loop = (async () => {
    while (!over.signal.aborted) {
      await turn().catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
  })()
  return {
    async stop() {
      over.abort()
      await loop
    },
  }
}
