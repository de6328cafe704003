import type { KubeClient } from '../../kube/client.ts'
import { listAll, ifKnown } from '../../kube/list-all.ts'
import type { Key } from '../../kube/objects.ts'
import type { AnnouncementState } from '../../inspect/facts.ts'
import { announcementStates, sessionStates } from '../../inspect/kinds.ts'
import { counted } from '../../lib/text.ts'

/** The routes that the cluster itself knows. The cloud's routers cannot be asked. */
export type Routes = {
  /** The number of nodes that announce each Service; undefined where MetalLB does not report it. */
  announcingNodes: Record<Key, number> | undefined
  /** The BGP sessions, where FRR-K8s holds them. */
  sessions: { up: number; all: number } | undefined
}

/** Reads the routes that MetalLB and FRR-K8s report. */
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

/** The differences of a Service's routes from those before the takeover. Without endpoints it had none. */
export function routeProblems(key: Key, before: Routes | undefined, now: Routes): string[] {
  const earlier = before?.announcingNodes?.[key] ?? 0
  if (earlier === 0 || !now.announcingNodes || (now.announcingNodes[key] ?? 0) > 0) return []
  return [`${counted(earlier, 'nodes')} announced it before the takeover, and none does now`]
}
