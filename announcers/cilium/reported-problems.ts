import type { Announcements, Problem, Subject } from '../announcer.ts'
import type { Condition, KubeObject } from '../../kube/objects.ts'
import { distinctProblems } from '../shared/order.ts'
import { isOurs, ownName } from './ownership.ts'
import { poolName } from './pools.ts'
import { type BGPNodeConfig, isClusterConfig, isNodeConfig, isPeerConfig, isPool } from './resources.ts'

/** The problems that Cilium reports about what we wrote. */
export function reportedProblems(reports: readonly KubeObject[], state: Announcements): Problem[] {
  return distinctProblems([
    ...reports.filter(isOurs).flatMap((report) => conditionProblems(report, state)),
    ...reports.filter(isNodeConfig).flatMap((report) => nodeProblems(report, state)),
  ])
}

/** The meaning of a condition that is True for the reader of its Event. A moment may pass until Cilium knows better. */
const meanings: Record<string, { message: string; mayPass: boolean }> = {
  'cilium.io/PoolConflict': {
    message: 'Cilium does not use the pool of the address, as another pool has it too; take it out of the other one',
    mayPass: false,
  },
  'cilium.io/ConflictingClusterConfig': {
    message:
      'no BGP session is configured, as Cilium uses one CiliumBGPClusterConfig for each node and another one selects this node; narrow its nodeSelector',
    mayPass: false,
  },
  'cilium.io/NoMatchingNode': {
    message: 'no BGP session is configured, as no CiliumNode has the label kubernetes.io/hostname of this node',
    mayPass: true,
  },
  'cilium.io/MissingPeerConfigs': { message: 'the peer configuration of a BGP session is missing', mayPass: true },
  'cilium.io/MissingAuthSecret': {
    message:
      'Cilium does not find the password of the BGP sessions; name the namespace of its BGP Secrets in the load balancer setting',
    mayPass: true,
  },
}

function conditionProblems(report: KubeObject, state: Announcements): Problem[] {
  const conditions: Condition[] =
    isPool(report) || isClusterConfig(report) || isPeerConfig(report) ? (report.status?.conditions ?? []) : []
  return conditions.flatMap(({ type, status, message: words }) => {
    const meaning = meanings[type]
    if (!meaning || status !== 'True') return []
    const message = words === '' ? meaning.message : `${meaning.message} (${words})`
    const { mayPass } = meaning
    return subjectsOf(report, state).map((subject) => ({ subject, message, ...(mayPass && { mayPass }) }))
  })
}

/** The subjects that our object serves. */
function subjectsOf(report: KubeObject, { addresses, nodes }: Announcements): Subject[] {
  const { name } = report.metadata
  if (isPool(report)) {
    const own = addresses.filter(({ address }) => poolName(address) === name)
    return own.flatMap(({ services }) => services).map((service) => ({ service }))
  }
  const own = isClusterConfig(report) ? nodes.filter(({ node }) => `${ownName}-${node}` === name) : nodes
  return own.map(({ node }) => ({ node }))
}

/** The reports of a node's agent: what it cannot carry out, and sessions that are not established. */
function nodeProblems({ metadata: { name: node }, status = {} }: BGPNodeConfig, { nodes }: Announcements): Problem[] {
  if (!nodes.some((one) => one.node === node)) return []
  const subject = { node }
  const failed = (status.conditions ?? []).filter(
    (one) => one.type === 'cilium.io/BGPReconcileError' && one.status === 'True',
  )
  const ours = (status.bgpInstances ?? []).filter(({ name }) => name.startsWith(`${ownName}-as`))
  const down = ours.flatMap(({ peers = [] }) => peers).filter(({ peeringState }) => peeringState !== 'established')
  return [
    ...failed.map(({ message }) => ({ subject, message: `Cilium's agent refuses its BGP configuration: ${message}` })),
    ...down.map(({ peerAddress, peeringState = 'unknown' }) => ({
      subject,
      message: `the BGP session with router ${peerAddress} is ${peeringState} and not established; look at the password, and whether another program of this node speaks with this router`,
      mayPass: true as const,
    })),
  ]
}
