import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { bgpPeers, ipAddressPools } from '../announcers/metallb/resources.ts'
import type { Node } from '../kube/objects.ts'
import { namespaces, nodes } from '../kube/resource.ts'
import { metallbPrograms } from '../sandbox/metallb/build.ts'
import type { Stage } from '../sandbox/stage.ts'
import { inFlight } from './in-flight.ts'
import { type Admin, env, until } from './stage.ts'

/** The settings with which the product writes custom resources for MetalLB. */
export const metallbEnv = { ...env, METAL_LOAD_BALANCER: 'metallb:///metallb-system?crdConfiguration=true' }

const peersOfNode = 2
const uninitialized = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
} as const

/** Installs the CRDs of the newest MetalLB; MetalLB itself does not run. */
export async function installMetallb({ kubectl }: Stage, admin: Admin): Promise<void> {
  const { crds } = await metallbPrograms('0.16.1')
  await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'metallb-system' } })
  for (const file of readdirSync(crds)) {
    const { code, stderr } = await kubectl(['apply', '--server-side', '-f', join(crds, file)])
    if (code !== 0) throw new Error(stderr)
  }
}

/** Adds machines, and their nodes as kubelets register them. */
export async function joinNodes({ cloud, project }: Stage, admin: Admin, names: string[]): Promise<void> {
  await inFlight(8, names.length, async (place) => {
    const name = names[place] ?? ''
    cloud.control.devices.add({ project, hostname: name, metro: 'da' })
    await admin.create(nodes, nodeOf(name))
  })
}

/** Names of nodes, numbered from a start. */
export function nodeNames(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, place) => `node-${from + place}`)
}

/** Waits until MetalLB has the pools of all addresses and the peers of all nodes. */
export function announced(admin: Admin, counts: { addresses: number; nodes: number }): Promise<void> {
  return until(`${counts.addresses} addresses and the peers of ${counts.nodes} nodes are announced`, async () => {
    const [pools, peers] = await Promise.all([admin.list(ipAddressPools), admin.list(bgpPeers)])
    return pools.items.length === counts.addresses && peers.items.length === peersOfNode * counts.nodes
  })
}

function nodeOf(name: string): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    spec: { taints: [uninitialized] },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  }
}
