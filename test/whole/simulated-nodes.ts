import type { Node, NodeAddress } from '../../kube/objects.ts'
import { events, nodes } from '../../kube/resource.ts'
import { uninitialized } from '../../controllers/nodes/taints.ts'
import { eventually, type Observe } from './eventually.ts'
import type { TestStage } from './test-stage.ts'

/** The flags of a kubelet. */
export type Started = {
  /** --node-ip */
  nodeIp?: string
  /** --provider-id */
  providerID?: string
  /** `internal`: it initializes its own node, as it does without --cloud-provider=external. */
  cloudProvider?: 'external' | 'internal'
  labels?: Record<string, string>
}

/** Writes Node objects as kubelets do, without machines. */
function kubelets({ client }: Pick<TestStage, 'client'>) {
  const node = (name: string): Promise<Node | undefined> => client.get(nodes, { name })
  return {
    node,
    /** Registers a node that is not ready yet. */
    register: async (name: string, started: Started = {}) => {
      await client.create(nodes, newNode(name, started))
    },
    /** Writes the Ready condition; Unknown is what the cluster writes for a machine that is off. */
    say: async (name: string, ready: 'True' | 'False' | 'Unknown') => {
      const merge = { status: { conditions: [{ type: 'Ready', status: ready, reason: 'Test' }] } }
      await client.patch(nodes, { name, patch: { merge } }, { subresource: 'status' })
    },
    /** Waits until `is` returns a value for the node. */
    seen: <T>(what: string, name: string, is: (node: Node | undefined) => T | false | undefined) =>
      eventually(`node ${name}: ${what}`, async (observe: Observe) => is(observe(await node(name))) || undefined),
    /** The Events of a node, a line each. */
    events: async (name: string): Promise<string> => {
      const fieldSelector = `involvedObject.kind=Node,involvedObject.name=${name}`
      const { items } = await client.list(events, { fieldSelector })
      return items
        .map(({ source, type, reason, message }) => `${source?.component}: ${type} ${reason} ${message}`)
        .join('\n')
    },
  }
}

/** A machine as each simulated cloud shows it. */
export type Device = {
  id: string
  ip_addresses: { address: string; address_family: number; public?: boolean; type?: string }[]
}

/** Adds machines to the simulated cloud, and nodes for them to the cluster. */
export function simulatedNodes(stage: Pick<TestStage, 'client' | 'cloud'>) {
  const kubelet = kubelets(stage)
  const device = (name: string): Device => {
    const added = stage.cloud.control.devices.add({ hostname: name })
    return { ...addressLists(added), ...(added as unknown as Device), id: String(added['id']) }
  }
  const settled = (name: string) =>
    kubelet.seen('it is initialized', name, (node) => (isInitialized(node) ? node : undefined))
  return {
    ...kubelet,
    device,
    settled,
    /** Adds a machine and its node, and waits until the node is initialized and ready. */
    startNode: async (name: string): Promise<Device> => {
      const machine = device(name)
      await kubelet.register(name, { nodeIp: ipOf(machine, 4, 'private') })
      await settled(name)
      await kubelet.say(name, 'True')
      return machine
    },
  }
}

/** The addresses of a machine that shows them in a list for each kind. */
function addressLists({ publicIpAddresses: outside, privateIpAddresses: inside }: Record<string, unknown>) {
  const of = (list: unknown, isPublic: boolean) =>
    (Array.isArray(list) ? list : []).map((address) => ({ address, address_family: 4, public: isPublic }))
  return { ip_addresses: [...of(outside, true), ...of(inside, false)] }
}

/** A management address of a machine. */
export function ipOf({ ip_addresses }: Device, family: 4 | 6, kind: 'public' | 'private'): string {
  const words: unknown[] = kind === 'public' ? [true, 'primary-ip'] : [false, 'private-ip']
  const isOne = ({ public: isPublic, type }: Device['ip_addresses'][number]) => words.includes(isPublic ?? type)
  return ip_addresses.find((one) => one.address_family === family && isOne(one))?.address ?? ''
}

/** The taints of a node that a cloud provider sets; the API server sets others on nodes that are not ready. */
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
