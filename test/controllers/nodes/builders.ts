import type { Machine, MachineAddress, Machines, ProviderIds } from '../../../clouds/ports/machines.ts'
import { uninitialized } from '../../../controllers/nodes/taints.ts'
import type { Node, NodeAddress, Taint } from '../../../kube/objects.ts'

export const ids: ProviderIds = { scheme: 'equinixmetal', older: ['packet'], id: /^m-\d+$/i }

/** Only what the server hears from a kubelet that waits for us. */
export const waiting: Taint = { key: uninitialized, value: 'true', effect: 'NoSchedule' }

type NodeFacts = {
  name?: string
  uid?: string
  providerID?: string
  nodeIp?: string
  addresses?: NodeAddress[]
  taints?: Taint[]
  labels?: Record<string, string>
  ready?: 'True' | 'False' | 'Unknown'
}

/** A node worker-1 that is initialized and ready; any fact of it can be said otherwise. */
export function makeNode(facts: NodeFacts = {}): Node {
  const {
    name = 'worker-1',
    uid = `uid-${name}`,
    providerID,
    nodeIp,
    addresses,
    taints,
    labels,
    ready = 'True',
  } = facts
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid,
      resourceVersion: '1',
      ...(labels && { labels }),
      ...(nodeIp !== undefined && { annotations: { 'alpha.kubernetes.io/provided-node-ip': nodeIp } }),
    },
    spec: { ...(providerID !== undefined && { providerID }), ...(taints && { taints }) },
    status: { ...(addresses && { addresses }), conditions: [{ type: 'Ready', status: ready }] },
  }
}

export const internal = (address: string): NodeAddress => ({ type: 'InternalIP', address })
export const external = (address: string): NodeAddress => ({ type: 'ExternalIP', address })
export const hostname = (address: string): NodeAddress => ({ type: 'Hostname', address })

export const own = (address: string, isPublic = false): MachineAddress => ({ address, isPublic, isElastic: false })
export const elastic = (address: string): MachineAddress => ({ address, isPublic: true, isElastic: true })

/** Machine m-1 called worker-1, with the addresses that a machine of the first vendor has. */
export function makeMachine(facts: Partial<Machine> = {}): Machine {
  return {
    id: 'm-1',
    name: 'worker-1',
    state: 'on',
    type: 'c3.small.x86',
    region: 'da',
    zone: 'da11',
    addresses: [own('203.0.113.2', true), own('2001:db8::2', true), own('10.66.1.3')],
    privateNetwork: '10.66.1.0/25',
    ...facts,
  }
}

/** A cloud with these machines, which can be changed, and a count of what it was asked. */
export function fakeMachines(...all: Machine[]) {
  const cloud = {
    all,
    asked: [] as string[],
    /** The error of every call, where it is set. */
    trouble: undefined as Error | undefined,
    /** A list, where it differs from what exists. */
    listed: undefined as Machine[] | undefined,
  }
  const answer = async <T>(call: string, value: () => T): Promise<T> => {
    cloud.asked.push(call)
    if (cloud.trouble) throw cloud.trouble
    return value()
  }
  const port: Machines = {
    machines: () => answer('list', () => cloud.listed ?? cloud.all),
    machine: (id) => answer(id, () => cloud.all.find((machine) => machine.id === id)),
  }
  return { cloud, port }
}
