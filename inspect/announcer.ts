import type { ObjectConfiguration, Problem } from '../announcers/announcer.ts'
import { announcerOf } from '../announcers/announcers.ts'
import { hostnameLabel } from '../announcers/shared/sessions.ts'
import { announcedAddresses, factsOf, foreignStatuses, leavingAddresses } from '../controllers/announcing/announced.ts'
import { machineIdOf } from '../controllers/nodes/node-machine.ts'
import { listAll, ifKnown } from '../kube/list-all.ts'
import { type KubeObject, keyOf } from '../kube/objects.ts'
import { type Resource, secrets } from '../kube/resource.ts'
import { claimKey, isSecond } from '../ledger/record/elastic-ip.ts'
import type { Context, Values } from './facts.ts'
import type { ClusterReader } from './reader.ts'
import { wantOf } from './wanted.ts'

/** The objects that the announcing software reads; undefined if the setting chooses software without any. */
export function announcerObjects({ vendor }: Context): ObjectConfiguration | undefined {
  const { configuration } = announcerOf(vendor.loadBalancer, vendor.announcerMarks)
  if (configuration?.kind === 'either') return configuration.objects
  return configuration?.kind === 'objects' ? configuration : undefined
}

/**
 * The objects that the announcing software reads and reports, and the kinds among them that the cluster does not know.
 * An older version may lack the kinds of reports. Secrets stay unread.
 */
export async function readAnnouncer(
  reader: Pick<ClusterReader, 'list'>,
  context: Context,
): Promise<Values['announcer']> {
  const configuration = announcerObjects(context)
  if (!configuration) return { existing: [], reports: [], unknown: [] }
  const kinds = configuration.kinds.map(({ resource }) => resource).filter(({ kind }) => kind !== secrets.kind)
  const read = (resource: Resource<KubeObject>) => ifKnown(undefined, () => listAll(reader, resource))
  const [existing, reports] = await Promise.all([
    Promise.all(kinds.map(read)),
    Promise.all(configuration.reports.map(read)),
  ])
  const known = (found: (KubeObject[] | undefined)[]) => found.flatMap((objects) => objects ?? [])
  const unknown = kinds.filter((_, at) => existing[at] === undefined).map(({ kind }) => kind)
  return { existing: known(existing), reports: known(reports), unknown }
}

type Known = Pick<Values, 'announcer' | 'services' | 'records' | 'nodes' | 'peers'>

/** The problems of the announcing software, from its own reports and from what `serve` would write for it now. */
export function announcerProblems({ announcer, ...known }: Known, context: Context): Problem[] {
  const configuration = announcerObjects(context)
  if (!configuration) return []
  const { services, records, nodes, peers } = known
  const firsts = records.filter((record) => !isSecond(record))
  const recordOf = new Map(firsts.map((record) => [claimKey(record), record]))
  const states = services.map((service) => ({
    service,
    wanted: wantOf(service, context),
    record: recordOf.get(keyOf(service)),
  }))
  const state = {
    addresses: announcedAddresses(states),
    leaving: leavingAddresses(states),
    foreign: foreignStatuses(states),
    facts: new Map(services.map((service) => [keyOf(service), factsOf(service)])),
    nodes: nodes.map((node) => {
      const { name, labels = {}, annotations = {} } = node.metadata
      const found = peers.get(machineIdOf(node, context.vendor.providerIds) ?? '')
      return { node: name, hostname: labels[hostnameLabel] ?? '', peers: found ?? [], annotations }
    }),
  }
  const planned = configuration.objects(state, announcer.existing).problems
  return [...planned, ...configuration.reportedProblems(announcer.reports, state)]
}
