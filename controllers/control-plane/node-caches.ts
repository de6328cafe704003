import { reflector } from '../../kube/reflector.ts'
import { endpointSlices, nodes } from '../../kube/resource.ts'
import { withoutUnusedStatus } from '../../ledger/caches.ts'
import type { GuardianBase } from '../dependencies.ts'

/** The labels of control-plane nodes. Old clusters have only the second one. */
const roles = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master']

/** The control-plane nodes of the cluster and where their API servers listen. */
export type ControlPlaneCaches = ReturnType<typeof controlPlaneCaches>

/** Caches only the control-plane nodes, because a cluster may have thousands of others. */
export function controlPlaneCaches({ client, log }: Pick<GuardianBase, 'client' | 'log'>) {
  const ofRoles = roles.map((labelSelector) =>
    reflector({ client, resource: nodes, log, labelSelector, strip: withoutUnusedStatus }),
  )
  const labelSelector = 'kubernetes.io/service-name=kubernetes'
  const slices = reflector({ client, resource: endpointSlices, log, namespace: 'default', labelSelector })
  const all = [...ofRoles, slices]
  return {
    nodes: () => [
      ...new Map(ofRoles.flatMap((cache) => cache.list()).map((node) => [node.metadata.name, node])).values(),
    ],
    slices: () => slices.list(),
    onChange: (listener: () => void) => all.forEach((cache) => cache.onChange(() => listener())),
    /** Resolves after the first lists. */
    synced: (signal: AbortSignal) => Promise.all(all.map((cache) => cache.synced(signal))),
    hasSynced: () => all.every((cache) => cache.hasSynced()),
    start: (signal: AbortSignal) => all.forEach((cache) => cache.start(signal)),
    silentForMs: () => Math.max(...all.map((cache) => cache.silentForMs())),
  }
}
