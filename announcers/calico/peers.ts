import type { NodePeers, Problem, WantedObject } from '../announcer.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { nameOf, parseAddress } from '../shared/address.ts'
import { isWritten, ownLabels, ownName, passwordSecret } from '../shared/own-objects.ts'
import { names } from '../../settings/installed-names.ts'
import { type Session, possibleSessions, sessionProblem, sessionsWithOnePassword } from '../shared/sessions.ts'
import { type BGPPeer, apiVersion, isPeer, namespaceAnnotation } from './resources.ts'

export type CalicoOptions = {
  /** Where calico-node runs and reads the Secret with the password of its sessions. */
  namespace: string
}

/** `secret` holds the password of the sessions, `wanted` are the peers of each node. */
export type Peers = { secret: WantedObject[]; wanted: WantedObject[]; problems: Problem[] }

const families = {
  possible: ['ipv4'] as const,
  otherwise: 'and eip-admission lets Calico announce only IPv4 addresses',
}

/** The annotation in which Calico publishes its own address on a node. */
const nodeAddressAnnotation = 'projectcalico.org/IPv4Address'

/** Calico's schema has signed 32-bit AS numbers. */
const maxAsn = 2 ** 31 - 1

/** The sessions of every node with the provider's routers: a BGPPeer for each. */
export function peersOf(nodes: readonly NodePeers[], options: CalicoOptions, existing: readonly KubeObject[]): Peers {
  const { sessions, problems, password } = sessionsWithOnePassword(possibleSessions(nodes, families))
  const addressOf = new Map(nodes.map(({ node, annotations = {} }) => [node, annotations[nodeAddressAnnotation]]))
  const peers = existing.filter(isPeer)
  const judged = sessions.map((session) => {
    const name = `${ownName}-${session.node}-${nameOf(session.router)}`
    const stored = peers.find((one) => isWritten(one) && one.metadata.name === name)
    const reason = unusableReason(session) ?? foreignReason(session, peers)
    return { session, name, stored, reason }
  })
  const possible = judged.filter(({ reason }) => reason === undefined)
  const used = possible.map(({ session }) => session)
  const secret = passwordSecret(password, used, options.namespace)
  // Without the Secret, kept sessions would lose their password, and the routers would refuse them.
  const isKept = judged.some(({ reason, stored }) => reason !== undefined && stored?.spec.password)
  return {
    secret: secret.length > 0 ? secret : keptSecret(isKept, existing),
    wanted: judged.flatMap(({ session, name, stored, reason }): WantedObject[] => {
      const subjects = [{ node: session.node }]
      if (reason === undefined)
        return [
          { object: peerOf(session, { name, options, nodeAddress: addressOf.get(session.node), stored }), subjects },
        ]
      // A working session must not end because of a later problem.
      return stored ? [{ object: stored, subjects }] : []
    }),
    problems: [
      ...problems,
      ...judged.flatMap(({ session, reason }) => (reason === undefined ? [] : [sessionProblem(session.node, reason)])),
      ...possible.flatMap(({ session }) => sourceProblem(session, addressOf.get(session.node))),
      ...possible.flatMap(({ session, stored }) => outdatedProblem(session, stored)),
    ],
  }
}

function unusableReason({ localAsn, peerAsn, password = '' }: Session): string | undefined {
  const tooLarge = [localAsn, peerAsn].find((asn) => asn > maxAsn)
  if (tooLarge !== undefined) return `AS number ${tooLarge} is larger than ${maxAsn}, the largest that Calico accepts`
  // Calico puts it between quotation marks in BIRD's configuration.
  return password.includes('"') ? 'its password has a quotation mark, which Calico cannot write' : undefined
}

/** If two peers have one address, Calico uses either. A peer with a selector may select the node. */
function foreignReason({ node, router }: Session, peers: readonly BGPPeer[]): string | undefined {
  const foreign = peers.find(
    (one) =>
      !isWritten(one) &&
      parseAddress(one.spec.peerIP?.replace(/:\d+$/, '') ?? '')?.text === router.text &&
      (one.spec.node === undefined || one.spec.node === '' || one.spec.node === node),
  )
  return (
    foreign &&
    `BGPPeer ${foreign.metadata.name}, which eip-admission does not manage, also has a session with router ${router.text}; delete it`
  )
}

/**
 * An older Calico drops the field, so the node would speak with the AS number of the cluster. We write the field again
 * anyway, because the stored object may be older than an upgrade.
 */
function outdatedProblem({ node }: Session, stored: BGPPeer | undefined): Problem[] {
  if (!stored || stored.spec.localASNumber !== undefined) return []
  const reason = 'Calico dropped the AS number of the node when this peer was written; upgrade it to 3.31 or later'
  return [{ ...sessionProblem(node, reason), mayPass: true }]
}

type PeerFacts = { name: string; options: CalicoOptions; nodeAddress: string | undefined; stored: BGPPeer | undefined }

function peerOf(session: Session, { name, options, nodeAddress, stored }: PeerFacts): BGPPeer {
  const { node, router, localAsn, peerAsn } = session
  const password = { secretKeyRef: { name: names.bgpSecret, key: 'password' } }
  return {
    apiVersion,
    kind: 'BGPPeer',
    metadata: { name, labels: ownLabels, annotations: { [namespaceAnnotation]: options.namespace } },
    spec: {
      node,
      peerIP: router.text,
      asNumber: peerAsn,
      localASNumber: localAsn,
      sourceAddress: isFrom(session, nodeAddress) ? 'UseNodeIP' : 'None',
      filters: [ownName],
      // In a merge patch, null removes a field. With an outdated password the session would never start.
      ...(session.password === undefined ? stored?.spec.password && { password: null as never } : { password }),
    },
  }
}

/** Calico connects from its own address of the node, or from the source address of the route to the router. */
function isFrom({ source }: Session, nodeAddress: string | undefined): boolean {
  return nodeAddress === undefined || nodeAddress.replace(/\/\d+$/, '') === source.text
}

function sourceProblem(session: Session, nodeAddress: string | undefined): Problem[] {
  if (isFrom(session, nodeAddress)) return []
  const { node, source, router } = session
  const message =
    `router ${router.text} expects the BGP session from ${source.text}, and Calico uses ${nodeAddress} for this node. ` +
    `Add a route on the node, such as: ip route replace ${router.text} via GATEWAY src ${source.text}`
  return [{ subject: { node }, message }]
}

function keptSecret(isUsed: boolean, existing: readonly KubeObject[]): WantedObject[] {
  const stored = existing.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === names.bgpSecret)
  return isUsed && stored ? [{ object: stored, subjects: [] }] : []
}
