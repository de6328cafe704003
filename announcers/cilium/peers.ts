import type { NodePeers, Problem, WantedObject } from '../announcer.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { includes } from '../../lib/json.ts'
import { matchesSelector } from '../../lib/label-selector.ts'
import { nameOf } from '../shared/address.ts'
import { compareTexts } from '../shared/order.ts'
import { isWritten, nodesOf, ownLabels, ownName, passwordSecret } from '../shared/own-objects.ts'
import { names } from '../../settings/installed-names.ts'
import {
  type Session,
  hostnameLabel,
  possibleSessions,
  sessionProblem,
  sessionsWithOnePassword,
} from '../shared/sessions.ts'
import {
  type BGPClusterConfig,
  type BGPNodeConfigOverride,
  type BGPPeerConfig,
  apiVersion,
  isClusterConfig,
  isOverride,
  secretsAnnotation,
} from './resources.ts'

export type CiliumOptions = {
  /** Where Cilium reads the Secrets of BGP sessions: its setting bgpControlPlane.secretsNamespace.name. */
  secretsNamespace: string
}

/** `common` are the objects that all sessions need, `wanted` the objects of each node. */
export type Peers = { common: WantedObject[]; wanted: WantedObject[]; problems: Problem[] }

/**
 * The sessions of every node with the provider's routers. Each node has its own ClusterConfig, because AS numbers and
 * routers may differ. Names never change, because Cilium restarts the session of a renamed peer.
 */
export function peersOf(nodes: readonly NodePeers[], options: CiliumOptions, existing: readonly KubeObject[]): Peers {
  const { sessions, problems, password } = sessionsWithOnePassword(possibleSessions(nodes, families))
  const byNode = [...Map.groupBy(sessions, ({ node }) => node)].toSorted(([one], [other]) => compareTexts(one, other))
  const planned = byNode.map(([node, own]) => planNode(node, own))
  // Each node has one override, which has its name.
  const foreign = new Map(
    existing.flatMap((one) => (isOverride(one) && !isWritten(one) ? [[one.metadata.name, one] as const] : [])),
  )
  const hindered = planned.filter(({ node, override }) => lacksSources(foreign.get(node), override))
  const possible = planned.filter((one) => !hindered.includes(one))
  const used = possible.flatMap((one) => one.sessions)
  const configs = [...Map.groupBy(used, peerConfigName)].toSorted(([one], [other]) => compareTexts(one, other))
  const secret = passwordSecret(password, used, options.secretsNamespace)
  return {
    common: [...secret, ...configs.flatMap(([name, own]) => peerConfigOf(name, own, options))],
    wanted: possible.flatMap(({ node, override, clusterConfig }) => {
      const subjects = [{ node }]
      // A foreign override that already has what we need stays as it is.
      return [...(foreign.has(node) ? [] : [{ object: override, subjects }]), { object: clusterConfig, subjects }]
    }),
    problems: [...problems, ...hindered.map(({ node, override }) => overrideProblem(node, override))],
  }
}

/** We announce only IPv4 addresses, and a session over IPv6 would carry none. */
const families = {
  possible: ['ipv4'] as const,
  otherwise: 'and eip-admission lets Cilium announce only IPv4 addresses',
}

type NodePlan = {
  node: string
  sessions: Session[]
  override: BGPNodeConfigOverride
  clusterConfig: BGPClusterConfig
}

function planNode(node: string, sessions: Session[]): NodePlan {
  const [hostname = ''] = sessions.map((session) => session.hostname)
  const instances = [...Map.groupBy(sessions, ({ localAsn }) => localAsn)].map(([localASN, own]) => ({
    name: `${ownName}-as${localASN}`,
    localASN,
    own,
  }))
  return {
    node,
    sessions,
    override: {
      apiVersion,
      kind: 'CiliumBGPNodeConfigOverride',
      metadata: { name: node, labels: ownLabels },
      spec: {
        bgpInstances: instances.map(({ name, own }) => ({
          name,
          peers: own.map(({ router, source }) => ({ name: nameOf(router), localAddress: source.text })),
        })),
      },
    },
    clusterConfig: {
      apiVersion,
      kind: 'CiliumBGPClusterConfig',
      metadata: { name: clusterConfigName(node), labels: ownLabels },
      spec: {
        nodeSelector: { matchLabels: { [hostnameLabel]: hostname } },
        bgpInstances: instances.map(({ name, localASN, own }) => ({ name, localASN, peers: own.map(clusterPeer) })),
      },
    },
  }
}

/** The name of our ClusterConfig for a node. */
export function clusterConfigName(node: string): string {
  return `${ownName}-${node}`
}

function clusterPeer(session: Session) {
  const { router, peerAsn } = session
  return {
    name: nameOf(router),
    peerAddress: router.text,
    peerASN: peerAsn,
    peerConfigRef: { name: peerConfigName(session) },
  }
}

function peerConfigName({ isMultihop, password }: Session): string {
  return [ownName, ...(isMultihop ? ['multihop'] : []), ...(password === undefined ? ['open'] : [])].join('-')
}

/** The maximum number of hops of a session. Cilium's default allows only a router on the same link. */
const [direct, anyDistance] = [1, 255]

function peerConfigOf(name: string, sessions: Session[], { secretsNamespace }: CiliumOptions): WantedObject[] {
  const [first] = sessions
  if (!first) return []
  const object: BGPPeerConfig = {
    apiVersion,
    kind: 'CiliumBGPPeerConfig',
    metadata: { name, labels: ownLabels, annotations: { [secretsAnnotation]: secretsNamespace } },
    spec: {
      ...(first.password === undefined ? {} : { authSecretRef: names.bgpSecret }),
      ebgpMultihop: first.isMultihop ? anyDistance : direct,
      timers: { connectRetryTimeSeconds: 5, holdTimeSeconds: 30, keepAliveTimeSeconds: 10 },
      families: [{ afi: 'ipv4', safi: 'unicast', advertisements: { matchLabels: ownLabels } }],
    },
  }
  return [{ object, subjects: nodesOf(sessions) }]
}

/**
 * The names of our ClusterConfigs that Cilium does not use, because a person's selects the node too. Of two it uses the
 * older one. A person may also have added the provider's routers to their own.
 */
export function unusedConfigs(nodes: readonly NodePeers[], existing: readonly KubeObject[]): Set<string> {
  const { ours = [], foreign = [] } = Object.groupBy(existing.filter(isClusterConfig), (one) =>
    isWritten(one) ? 'ours' : 'foreign',
  )
  const unused = nodes.flatMap(({ node, hostname, labels = { [hostnameLabel]: hostname }, peers }) => {
    const name = clusterConfigName(node)
    const routers = new Set(peers.map(({ peerAddress }) => peerAddress))
    const isYounger = (one: BGPClusterConfig) =>
      ours.some((own) => own.metadata.name === name && createdAt(one) > createdAt(own))
    const isReplaced = foreign.some(
      (one) => matchesSelector(labels, one.spec.nodeSelector ?? {}) && !isYounger(one) && !hasRouter(one, routers),
    )
    return isReplaced ? [name] : []
  })
  return new Set(unused)
}

function hasRouter({ spec: { bgpInstances = [] } }: BGPClusterConfig, routers: ReadonlySet<string>): boolean {
  return bgpInstances.some(({ peers = [] }) => peers.some(({ peerAddress }) => routers.has(peerAddress)))
}

function createdAt({ metadata }: KubeObject): number {
  return Date.parse(metadata.creationTimestamp ?? '')
}

/** Whether a foreign override lacks what the sessions of its node need. */
function lacksSources(foreign: BGPNodeConfigOverride | undefined, needed: BGPNodeConfigOverride): boolean {
  if (!foreign) return false
  const sources = sourcesIn(foreign)
  return !sourcesIn(needed).every((source) => sources.some((one) => includes(one, source)))
}

function sourcesIn({ spec }: BGPNodeConfigOverride) {
  const { bgpInstances = [] } = spec
  return bgpInstances.flatMap(({ name, peers = [] }) => peers.map((peer) => ({ ...peer, instance: name })))
}

function overrideProblem(node: string, { spec }: BGPNodeConfigOverride): Problem {
  const reason = `CiliumBGPNodeConfigOverride ${node} exists and eip-admission does not manage it. Cilium reads one for each node: add to its spec.bgpInstances ${JSON.stringify(spec.bgpInstances)}`
  return sessionProblem(node, reason)
}
