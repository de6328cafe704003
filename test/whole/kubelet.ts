import type { Node, NodeAddress } from '../../kube/objects.ts'
import { nodes } from '../../kube/resource.ts'
import { uninitialized } from '../../controllers/nodes/taints.ts'
import { eventually, type See } from './eventually.ts'
import type { World } from './world.ts'

/** How a kubelet was started. */
export type Started = {
  /** --node-ip */
  nodeIp?: string
  /** --provider-id */
  providerID?: string
  /** `internal`: it initializes its own node, as without --cloud-provider=external. */
  cloudProvider?: 'external' | 'internal'
  labels?: Record<string, string>
}

/** Does to Node objects what a kubelet does, without a machine. */
function kubelets({ client, kubectl, must }: Pick<World, 'client' | 'kubectl' | 'must'>) {
  const node = (name: string): Promise<Node | undefined> => client.get(nodes, { name })
  return {
    node,
    /** A kubelet comes up and registers its node, which is not ready yet. */
    register: async (name: string, started: Started = {}) => {
      const { code, stderr } = await kubectl(['create', '-f', '-'], newNode(name, started))
      if (code !== 0) throw new Error(stderr)
    },
    /** The kubelet says how it is; a machine that is off says nothing, and the cluster notes that. */
    say: async (name: string, ready: 'True' | 'False' | 'Unknown') => {
      const patch = JSON.stringify({ status: { conditions: [{ type: 'Ready', status: ready, reason: 'Said' }] } })
      await must('patch', 'node', name, '--subresource=status', '--type=merge', '-p', patch)
    },
    /** Waits for a node that is as told. */
    seen: <T>(what: string, name: string, is: (node: Node | undefined) => T | false | undefined) =>
      eventually(`node ${name}: ${what}`, async (see: See) => is(see(await node(name))) || undefined),
    /** What `kubectl describe` would tell of a node. */
    events: (name: string) =>
      must(
        'get',
        'events',
        `--field-selector=involvedObject.kind=Node,involvedObject.name=${name}`,
        '-o',
        'jsonpath={range .items[*]}{.source.component}: {.type} {.reason} {.message}{"\\n"}{end}',
      ),
  }
}

/** A machine as any of the simulated clouds shows it. */
export type Device = {
  /** A number at Cherry Servers. */
  id: string
  ip_addresses: { address: string; address_family: number; public?: boolean; type?: string }[]
}

/** Machines in the simulated cloud, and their nodes. */
export function machineRoom(world: Pick<World, 'client' | 'kubectl' | 'must' | 'cloud'>) {
  const kubelet = kubelets(world)
  const device = (name: string) => world.cloud.door.devices.add({ hostname: name }) as unknown as Device
  const settled = (name: string) =>
    kubelet.seen('it is initialized', name, (node) => (isInitialized(node) ? node : undefined))
  return {
    ...kubelet,
    device,
    settled,
    /** A machine and its node, initialized and ready. */
    comesUp: async (name: string): Promise<Device> => {
      const machine = device(name)
      await kubelet.register(name, { nodeIp: ipOf(machine, 4, 'private') })
      await settled(name)
      await kubelet.say(name, 'True')
      return machine
    },
  }
}

/** An address that a machine is managed by. */
export function ipOf({ ip_addresses }: Device, family: 4 | 6, kind: 'public' | 'private'): string {
  const words: unknown[] = kind === 'public' ? [true, 'primary-ip'] : [false, 'private-ip']
  const isOne = ({ public: isPublic, type }: Device['ip_addresses'][number]) => words.includes(isPublic ?? type)
  return ip_addresses.find((one) => one.address_family === family && isOne(one))?.address ?? ''
}

/** The taints of a node that are a cloud provider's; the API server has its own for nodes that are not ready. */
export function cloudTaints(node: Node | undefined): string[] {
  const taints = node?.spec.taints ?? []
  return taints.filter(({ key }) => key.includes('cloudprovider')).map(({ key, effect }) => `${key}:${effect}`)
}

function isInitialized(node: Node | undefined): boolean {
  return node?.spec.providerID !== undefined && !cloudTaints(node).some((taint) => taint.startsWith(uninitialized))
}

function newNode(name: string, { nodeIp, providerID, cloudProvider = 'external', labels }: Started): Node {
  const isExternal = cloudProvider === 'external'
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { 'kubernetes.io/hostname': name, ...labels },
      ...(nodeIp && isExternal && { annotations: { 'alpha.kubernetes.io/provided-node-ip': nodeIp } }),
    },
    spec: {
      ...(providerID !== undefined && { providerID }),
      ...(isExternal && { taints: [{ key: uninitialized, value: 'true', effect: 'NoSchedule' }] }),
    },
    status: {
      // Without --node-ip the kubelet leaves its addresses to the cloud provider.
      ...(nodeIp !== undefined && { addresses: reported(name, nodeIp) }),
      conditions: [{ type: 'Ready', status: 'False' }],
    },
  }
}

function reported(name: string, nodeIp: string): NodeAddress[] {
  return [
    ...nodeIp.split(',').map((address): NodeAddress => ({ type: 'InternalIP', address })),
    { type: 'Hostname', address: name },
  ]
}
