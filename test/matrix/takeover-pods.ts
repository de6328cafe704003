// Plays the kubelets for a predecessor's workload: runs its pods, which hold its lease.
import { randomUUID } from 'node:crypto'
import { systemClock } from '../../kube/clock.ts'
import { leaseRecord } from '../../kube/lease.ts'
import { daemonSets, deployments } from '../../kube/workloads.ts'
import { readWorkloads } from '../../commands/takeover/workloads.ts'
import type { TestStage } from '../whole/test-stage.ts'
import { type Shape, predecessor } from './takeover-shapes.ts'

/** Runs the pods of a workload while it may have any: a DaemonSet, until its selector matches no node. */
export function runPods(
  { client }: Pick<TestStage, 'client'>,
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
  const at = { namespace: workload.namespace, name: workload.name }
  const resource = kind === 'Deployment' ? deployments : daemonSets
  const turn = async () => {
    const spec = (await readWorkloads(client, [{ kind, ...at }]))[0]?.spec
    const selector = spec?.template?.spec?.nodeSelector ?? {}
    const runs = kind === 'Deployment' ? spec?.replicas === 1 : !('eip-admission.dev/stopped-by-takeover' in selector)
    const count = runs ? 1 : 0
    // It never releases its lease.
    if (runs && leaderElect) await record.claim()
    const status =
      kind === 'Deployment'
        ? { replicas: count, readyReplicas: count }
        : { currentNumberScheduled: count, desiredNumberScheduled: count, numberMisscheduled: 0, numberReady: count }
    await client.patch(resource, { ...at, patch: { merge: { status } } }, { subresource: 'status' })
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
