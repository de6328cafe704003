import { softwareOf, softwares } from '../../../announcers/announcers.ts'
import { machineIdOf } from '../../../controllers/nodes/node-machine.ts'
import { heldAddress } from '../../../ledger/record/elastic-ip.ts'
import { matchesRequirements } from '../../../lib/label-selector.ts'
import { type Finding, type Findings, defineCheck } from '../check.ts'
import type { Context, SessionState, Values } from '../../../inspect/facts.ts'
import { type Remedy, shell } from '../../../lib/remedy.ts'

/** With a single router, its reboot takes every address away. */
const enoughPeers = 2

export const bgpPeers = defineCheck({
  id: 'bgp-peers',
  section: 'Nodes',
  checks: 'The provider has at least two BGP peers for every node that takes part in BGP.',
  good: 'every node that takes part in BGP has at least two BGP peers',
  needs: ['nodes', 'peers'],
  applies: ({ vendor }) => vendor.bgp.isOn,
  judge: ({ nodes, peers }, { vendor }) =>
    machinesOf(nodes, vendor).flatMap(({ node, machine }): Findings => {
      const count = peers.get(machine)?.length
      if (count === undefined || count >= enoughPeers) return []
      return {
        level: count === 0 ? 'error' : 'warning',
        what: `node ${node} has ${count} BGP peers at ${vendor.cloud.name}`,
        why: count === 0 ? 'it can announce no address' : 'if that one fails, the node announces no address',
        fix: shell`kubectl describe node ${node}   # the Events say why; BGP must be on for the machine`,
      }
    }),
})

export const bgpSessions = defineCheck({
  id: 'bgp-sessions',
  section: 'Nodes',
  checks:
    "No BGP session of a node is down, according to FRR-K8s or the provider's routers. If no address is held, there may be no sessions.",
  good: 'no BGP session is reported as down',
  needs: ['nodes', 'records', 'sessions', 'seenSessions'],
  applies: ({ vendor }) => vendor.bgp.isOn,
  judge({ nodes, records, sessions, seenSessions }, context) {
    if (!records.some((record) => heldAddress(record) !== undefined)) return []
    // FRR-K8s reports the current state of each session.
    if (sessions.length > 0) return sessions.flatMap(downInFrr)
    const machines = machinesOf(nodes, context.vendor)
    if (machines.length === 0) return []
    const seen = machines.flatMap(({ node, machine }) => {
      const found = seenSessions.get(machine)
      return found ? [{ node, ...found }] : []
    })
    if (seen.some(({ up, down }) => up + down > 0)) return seen.flatMap((one) => downAtCloud(one, context))
    return unseen(context)
  },
})

/** Software with sessions that the cluster shows. */
const speaking = softwares.flatMap(({ kinds, sessions }) => (sessions ? [{ kinds, sessions }] : []))

export const oneSpeaker = defineCheck({
  id: 'one-speaker',
  section: 'Nodes',
  checks: "Only the announcing software that the setting chooses has sessions with the provider's routers.",
  good: "no other software has sessions with the provider's routers",
  needs: ['peers', ...speaking.flatMap(({ sessions }) => sessions.needs)],
  applies: ({ vendor }) => vendor.bgp.isOn,
  judge(facts, { vendor: { loadBalancer } }) {
    const routersOfCloud = new Set([...facts.peers.values()].flat().map(({ peerAddress }) => peerAddress))
    const others = speaking
      .filter(({ kinds }) => !kinds.includes(loadBalancer.kind))
      .flatMap(({ sessions }) => sessions.configured(facts))
    return others.flatMap(({ where, routers, removal }): Findings => {
      const shared = routers.find((address) => routersOfCloud.has(address))
      if (shared === undefined) return []
      return {
        level: 'error',
        what: `${where} has a session with router ${shared}, and the load balancer setting chooses ${loadBalancer.kind}`,
        why: "a router has one session with a node: the two programs end each other's sessions",
        fix: shell`${removal}   # or let --loadbalancer of \`serve\` choose that software`,
      }
    })
  },
})

type NodeSessions = { node: string; up: number; down: number; seenAt: string | undefined }

/** The machines of the nodes that take part in BGP. */
function machinesOf(
  nodes: Values['nodes'],
  { providerIds, bgp: { selector } }: Context['vendor'],
): { node: string; machine: string }[] {
  return nodes.flatMap((node) => {
    const { name, labels } = node.metadata
    const machine = machineIdOf(node, providerIds)
    return machine !== undefined && matchesRequirements(labels, selector) ? [{ node: name, machine }] : []
  })
}

function downInFrr({ metadata, status }: SessionState): Findings {
  if (status?.bgpStatus === 'Established') return []
  return {
    level: 'warning',
    what: `node ${status?.node}: the BGP session with ${status?.peer} is ${status?.bgpStatus ?? 'in no known state'}`,
    why: 'the router learns no addresses from this node through it',
    fix: shell`kubectl get bgpsessionstates.frrk8s.metallb.io -n ${metadata.namespace} ${metadata.name} -o yaml`,
  }
}

function downAtCloud({ node, up, down, seenAt }: NodeSessions, context: Context): Findings {
  if (down === 0) return []
  const { name } = context.vendor.cloud
  return {
    level: 'warning',
    what: `node ${node}: ${down} of ${up + down} BGP sessions are down at ${name}, as it saw them ${seenAt ?? 'last'}`,
    why: 'these routers learn no addresses from this node, unless the session has come up since then',
    fix: command(context),
  }
}

/** Reported once, and not as a problem, because not every cluster reports its sessions. */
function unseen(context: Context): Finding {
  return {
    level: 'manual',
    what: 'nothing reports here which BGP sessions are up',
    why: `${context.vendor.cloud.name} has not looked at them yet, and only MetalLB with FRR-K8s reports it`,
    fix: command(context),
  }
}

/** The command that shows the sessions of the announcing software. */
function command({ vendor: { loadBalancer } }: Context): Remedy {
  return softwareOf(loadBalancer)?.sessionsCommand?.(loadBalancer) ?? 'ask the BGP program of each node'
}
