import { machineList } from '../../../controllers/dependencies.ts'
import { nodeLifecycle } from '../../../controllers/nodes/node-lifecycle.ts'
import { removalLimit } from '../../../controllers/nodes/removal-limit.ts'
import type { Node } from '../../../kube/objects.ts'
import { nodes } from '../../../kube/resource.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { type Hooks, interposed } from '../../fakes/interposed.ts'
import { silentLog } from '../../fakes/log.ts'
import { fakeMachines, ids, makeMachine, makeNode } from './builders.ts'

const { signal } = new AbortController()
export const graceMs = 30_000
export const monitorMs = 5_000
export const shutdown = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' } as const

/** A cluster of so many nodes, worker-1 and on, all ready, each on its machine. */
export function makeCluster(size: number, mode: 'delete' | 'report' = 'delete') {
  const numbers = Array.from({ length: size }, (_, n) => n + 1)
  const { cloud, port } = fakeMachines(...numbers.map((n) => makeMachine({ id: `m-${n}`, name: `worker-${n}` })))
  const api = apiServer()
  const hooks: Hooks = {}
  const time = { ms: 0 }
  const said: string[] = []
  /** The nodes of the cache that have changed since. */
  const late = new Map<string, Node>()
  const find = (name: string) => api.stored(nodes).find(({ metadata }) => metadata.name === name)
  const now = () => time.ms
  const lifecycle = nodeLifecycle({
    client: interposed(api.client, hooks),
    cached: {
      node: (name) => late.get(name) ?? find(name),
      nodes: () => api.stored(nodes).map((node) => late.get(node.metadata.name) ?? node),
    },
    machines: machineList({ machines: port, now }),
    ids,
    limit: removalLimit({ max: 5, now }),
    event: (node, { reason, message }) => said.push(`${node.metadata.name} ${reason} ${message}`),
    log: silentLog,
    now,
    monitorMs,
    graceMs,
    mode,
  })
  const is = (n: number, facts: Parameters<typeof makeNode>[0]) =>
    api.put(nodes, makeNode({ name: `worker-${n}`, providerID: `equinixmetal://m-${n}`, ...facts }))
  for (const n of numbers) is(n, {})
  const isGone = (n: number) => (cloud.all = cloud.all.filter(({ id }) => id !== `m-${n}`))
  return {
    cloud,
    client: api.client,
    /** Events around the calls of the controller. */
    hooks,
    time,
    said,
    is,
    isGone,
    /** Changes a node, of which the cache learns nothing. */
    isUnseen: (n: number, facts: Parameters<typeof makeNode>[0]) => {
      const before = find(`worker-${n}`)
      if (before) late.set(before.metadata.name, before)
      is(n, facts)
    },
    look: (n: number) => lifecycle.reconcile(`worker-${n}`, signal),
    node: (n: number): Node | undefined => find(`worker-${n}`),
    taints: (n: number) => find(`worker-${n}`)?.spec.taints ?? [],
  }
}
