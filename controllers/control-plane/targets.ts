import { type ControlPlaneNode, type GuardedNode, apiServerPort, controlPlaneNodes } from './control-plane-nodes.ts'
import type { ControlPlaneAddress } from './control-plane-address.ts'
import { type ProbersOptions, probers } from '../moves/probers.ts'
import type { ProviderIds } from '../../clouds/ports/machines.ts'
import type { Endpoint, Probe } from '../../kube/probe.ts'
import type { ControlPlaneOptions } from '../../clouds/ports/cloud-provider.ts'
import type { ControlPlaneCaches } from './node-caches.ts'
import { lookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import type { Credentials } from '../../kube/credentials.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'

/** How the control plane is probed. */
export type ProbeOptions = Pick<ControlPlaneOptions, 'port' | 'byHostAddress'>

export type TargetsOptions = ProbersOptions & {
  /** Probes the control-plane address, which others may answer. */
  probeAddress: Probe
  caches: Pick<ControlPlaneCaches, 'nodes' | 'slices'>
  assigned: () => ControlPlaneAddress | undefined
  ids: ProviderIds
  controlPlane: ProbeOptions
}

export type Targets = ReturnType<typeof probeTargets>

const own = 'the control-plane address'

/**
 * The targets of the probes: each API server by its own address, and the control-plane address itself. Nothing is probed
 * before the first refresh.
 */
export function probeTargets(options: TargetsOptions) {
  const { caches, assigned, ids, controlPlane, probeAddress } = options
  const hosts = probers(options)
  const outside = probers({ ...options, probe: probeAddress })
  let nodes: ControlPlaneNode[] = []
  /** Where the control-plane address answers; undefined if a probe from here would prove nothing. */
  const addressEndpoint = (): Endpoint | undefined => {
    const address = assigned()?.address
    if (address === undefined || isOnThisMachine(address)) return undefined
    return { address, port: controlPlane.port ?? apiServerPort(nodes) }
  }
  return {
    /** Updates the targets to the current nodes, endpoints of API servers, and control-plane address. */
    refresh() {
      const shared = assigned()?.address
      nodes = controlPlaneNodes({ nodes: caches.nodes(), slices: caches.slices(), shared, ids })
      hosts.target(new Map(nodes.flatMap(({ name, endpoint }) => (endpoint ? [[name, endpoint] as const] : []))))
      const endpoint = controlPlane.byHostAddress ? undefined : addressEndpoint()
      outside.target(new Map(endpoint ? [[own, endpoint]] : []))
    },
    /** The control-plane nodes and the history of their probes. */
    nodes: (): GuardedNode[] => nodes.map((node) => ({ ...node, probes: hosts.history(node.name) })),
    /** Probes of the address; undefined if it is not probed: an interface may have gained it since the last refresh. */
    address: () => (controlPlane.byHostAddress || !addressEndpoint() ? undefined : outside.history(own)),
    addressEndpoint,
    /** Forgets earlier probes of the address, because another machine has it now. */
    forgetAddress: () => outside.forget(own),
    stop() {
      hosts.stop()
      outside.stop()
    },
  }
}

/** Whether an interface of this machine has the address, so that a probe would not leave the machine. */
export function isOnThisMachine(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  return own.some((one) => canonicalIpAddress(one.address) === address)
}

/**
 * Why the guardian must not use our path to the API server: it leads through the control-plane address; else undefined.
 */
export async function ownPathProblem(credentials: Credentials, address: string): Promise<string | undefined> {
  const { url } = await credentials.current()
  const { hostname } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const addresses = await lookup(host, { all: true }).catch(() => [])
  if (!addresses.some((one) => canonicalIpAddress(one.address) === address)) return undefined
  return (
    `this process talks to the API server through the control-plane address itself (${url}), so it would be cut off by the ` +
    'outage that it must end; set --api-server (EIP_API_SERVER) to the API server of its own machine, such as https://$(HOST_IP):6443'
  )
}
