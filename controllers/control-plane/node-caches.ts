import type { EndpointSlice, Node } from '../../kube/objects.ts'
import { type Reflector, reflector } from '../../kube/reflector.ts'
import { endpointSlices, nodes } from '../../kube/resource.ts'
import { withoutUnusedStatus } from '../../ledger/caches.ts'
import type { GuardianBase } from '../dependencies.ts'

/** The labels of control-plane nodes. Old clusters have only the second one. */
const roles = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master']

/** The control-plane nodes of the cluster and where their API servers listen. */
export type ControlPlaneCaches = {
  nodes(): Node[]
  slices(): EndpointSlice[]
  onChange(listener: () => void): void
  /** Resolves after the first lists. */
  synced(signal: AbortSignal): Promise<void>
  hasSynced(): boolean
  start(signal: AbortSignal): void
  silentForMs(): number
}

/** Caches only the control-plane nodes, because a cluster may have thousands of others. */
export function controlPlaneCaches({ client, log }: Pick<GuardianBase, 'client' | 'log'>): ControlPlaneCaches {
  const ofRoles = roles.map((labelSelector) =>
    reflector({ client, resource: nodes, log, labelSelector, strip: withoutUnusedStatus }),
  )
  const labelSelector = 'kubernetes.io/service-name=kubernetes'
  const slices = reflector({ client, resource: endpointSlices, log, namespace: 'default', labelSelector })
  const all: Pick<Reflector<Node | EndpointSlice>, 'start' | 'synced' | 'hasSynced' | 'silentForMs' | 'onChange'>[] = [
    ...ofRoles,
    slices,
  ]
  return {
    nodes: () => [
      ...new Map(ofRoles.flatMap((cache) => cache.list().map((node) => [node.metadata.name, node] as const))).values(),
    ],
    slices: () => slices.list(),
    onChange: (listener) => all.forEach((cache) => cache.onChange(() => listener())),
    async synced(signal) {
      await Promise.all(all.map((cache) => cache.synced(signal)))
    },
    hasSynced: () => all.every((cache) => cache.hasSynced()),
    start: (signal) => all.forEach((cache) => cache.start(signal)),
    silentForMs: () => Math.max(...all.map((cache) => cache.silentForMs())),
  }
}
