import { ifKnown } from '../../controllers/announcing/list-known.ts'
import type { KubeClient } from '../../kube/client.ts'
import { listAll } from '../../kube/list-all.ts'
import type { Key } from '../../kube/objects.ts'
import type { AnnouncementState } from '../../inspect/facts.ts'
import { announcementStates, sessionStates } from '../../inspect/kinds.ts'

/** What the cluster itself knows of routes. A router of the cloud can be asked by nobody. */
export type Routes = {
  /** How many nodes announce each Service; undefined where MetalLB does not say. */
  announcingNodes: Record<Key, number> | undefined
  /** The BGP sessions, where FRR-K8s holds them. */
  sessions: { up: number; all: number } | undefined
}

/** Reads what MetalLB and FRR-K8s say of routes. */
export async function readRoutes(client: Pick<KubeClient, 'list'>): Promise<Routes> {
  const [statuses, sessions] = await Promise.all([
    ifKnown(undefined, () => listAll(client, announcementStates)),
    ifKnown(undefined, () => listAll(client, sessionStates)),
  ])
  const up = sessions?.filter(({ status }) => status?.bgpStatus === 'Established').length ?? 0
  return {
    announcingNodes: statuses && countNodes(statuses),
    sessions: sessions && sessions.length > 0 ? { up, all: sessions.length } : undefined,
  }
}

function countNodes(statuses: readonly AnnouncementState[]): Record<Key, number> {
  const announcing = statuses.filter(({ status }) => (status?.peers?.length ?? 0) > 0)
  const groups = Map.groupBy(announcing, ({ status }) => `${status?.serviceNamespace}/${status?.serviceName}`)
  const counts = [...groups].map(
    ([key, group]) => [key, new Set(group.map(({ status }) => status?.node)).size] as const,
  )
  return Object.fromEntries(counts)
}

/** Why the routes of a Service are not as before the takeover. A Service without endpoints was announced by nobody. */
export function routeProblems(key: Key, before: Routes | undefined, now: Routes): string[] {
  const earlier = before?.announcingNodes?.[key] ?? 0
  if (earlier === 0 || !now.announcingNodes || (now.announcingNodes[key] ?? 0) > 0) return []
  return [`${earlier} ${earlier === 1 ? 'node' : 'nodes'} announced it before the takeover, and none does now`]
}
