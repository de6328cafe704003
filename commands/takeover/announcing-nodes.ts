import type { KubeClient } from '../../kube/client.ts'
import { listAll, ifKnown } from '../../kube/list-all.ts'
import type { Key } from '../../kube/objects.ts'
import type { AnnouncementState } from '../../announcers/check.ts'
import { announcementStates } from '../../inspect/kinds.ts'
import { counted } from '../../lib/text.ts'

/** The number of nodes that announce each Service. The provider's routers cannot be asked. */
export type AnnouncingNodes = Record<Key, number>

/** Reads which nodes announce which Services; undefined if MetalLB does not report it. */
export async function readAnnouncing(client: Pick<KubeClient, 'list'>): Promise<AnnouncingNodes | undefined> {
  const statuses = await ifKnown(undefined, () => listAll(client, announcementStates))
  return statuses && countNodes(statuses)
}

function countNodes(statuses: readonly AnnouncementState[]): AnnouncingNodes {
  const announcing = statuses.filter(({ status }) => (status?.peers?.length ?? 0) > 0)
  const groups = Map.groupBy(announcing, ({ status }) => `${status?.serviceNamespace}/${status?.serviceName}`)
  const nodesIn = (group: readonly AnnouncementState[]) => new Set(group.map(({ status }) => status?.node)).size
  return Object.fromEntries([...groups].map(([key, group]) => [key, nodesIn(group)]))
}

/** The announcements that a Service has lost since the takeover began. A Service without endpoints had none. */
export function announcingProblems(
  key: Key,
  before: AnnouncingNodes | undefined,
  now: AnnouncingNodes | undefined,
): string[] {
  const earlier = before?.[key] ?? 0
  if (earlier === 0 || !now || (now[key] ?? 0) > 0) return []
  return [`${counted(earlier, 'nodes')} announced it before the takeover, and none does now`]
}
