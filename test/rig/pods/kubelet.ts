// Nodes without containers: they treat pods as scheduler and kubelets do, and run the product's bundle instead of the
// image. The controllers above them (Deployment, ReplicaSet, Job, EndpointSlice) and the API server are real.
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeClient } from '../../../kube/client.ts'
import { listAll } from '../../../kube/list-all.ts'
import type { Node } from '../../../kube/objects.ts'
import { nodes } from '../../../kube/resource.ts'
import type { ControlPlane } from '../../../sandbox/control-plane/start.ts'
import { addAddress } from '../../../sandbox/rig/network.ts'
import { type Administrator, makeAdministrator } from '../../../sandbox/rig/administrator.ts'
import { type Pod, pods } from './pod.ts'
import { type PodRun, podRun } from './pod-run.ts'
import { chooseNode } from './scheduler.ts'

export type KubeletOptions = {
  /** The nodes that are ready from the start, `node-a` when absent. */
  nodes?: string[]
  /** Whether pods reach the API server by the cluster IP of its Service, as they do only with kube-proxy. */
  kubeProxy?: boolean
  /** Which pods it runs; all when absent. */
  runs?: (pod: Pod) => boolean
}

export type Kubelet = {
  /** The log files of all pods that it has seen. */
  logs: Set<string>
  /** Adds a node that is not ready, with an address for pods on the host network. */
  join(node: Node, address: string): Promise<void>
  /** Kills the process of a pod. */
  kill(name: string): Promise<void>
  /** Kills every process; nothing runs until the power returns. */
  cutPower(): Promise<void>
  restorePower(): void
  stop(): Promise<void>
}

/** Variables that kubelets set for every pod. */
const clusterIP = new URL('https://10.96.0.1:443')

/** Starts a scheduler and the kubelets of all nodes. */
export async function startKubelet(
  controlPlane: ControlPlane,
  client: KubeClient,
  { nodes: ready = ['node-a'], kubeProxy = true, runs = () => true }: KubeletOptions = {},
): Promise<Kubelet> {
  const administrator = makeAdministrator(controlPlane)
  for (const name of ready) await registerNode(administrator, name)
  const addresses = new Map<string, string>()
  const running = new Map<string, PodRun>()
  const logs = new Set<string>()
  const over = new AbortController()
  const apiServer = kubeProxy ? new URL(controlPlane.url) : clusterIP
  let podAddresses = 1
  const addressFor = async ({ spec: { hostNetwork, nodeName = '' } }: Pod) => {
    if (hostNetwork === true) return addresses.get(nodeName) ?? ''
    const address = `10.244.0.${(podAddresses += 1)}`
    await addAddress(address)
    return address
  }
  const syncPod = async (pod: Pod) => {
    const uid = pod.metadata.uid ?? ''
    let run = running.get(uid)
    if (!run) {
      const address = await addressFor(pod)
      run = podRun({ controlPlane, client, run: administrator.run, address, apiServer })
      running.set(uid, run)
      logs.add(run.logFile(pod))
    }
    await run.sync(pod)
  }
  let hasPower = true
  let round: Promise<unknown> = Promise.resolve()
  const syncAll = async () => {
    const all = await scheduled(client, administrator).catch(() => [])
    // A pod that cannot be started yet is tried again in the next round.
    await Promise.allSettled(all.filter(runs).map(syncPod))
  }
  const loop = async () => {
    while (!over.signal.aborted) {
      if (hasPower) await (round = syncAll())
      await sleep(150)
    }
  }
  const killAll = async () => void (await Promise.all([...running.values()].map((run) => run.end('SIGKILL'))))
  const done = loop()
  return {
    logs,
    async join(node, address) {
      await addAddress(address)
      addresses.set(node.metadata.name, address)
      await client.create(nodes, node)
    },
    async kill(name) {
      const pod = (await listAll(client, pods)).find(({ metadata }) => metadata.name === name)
      const run = running.get(pod?.metadata.uid ?? '')
      if (!run) throw new Error(`pod ${name} does not run`)
      await run.kill()
    },
    async cutPower() {
      hasPower = false
      await round
      await killAll()
    },
    restorePower: () => void (hasPower = true),
    async stop() {
      over.abort()
      await done
      await killAll()
    },
  }
}

/** Assigns a node to every pod for which there is one; returns all pods with a node. */
async function scheduled(client: KubeClient, { run }: Administrator): Promise<Pod[]> {
  const all = await listAll(client, pods)
  const waiting = all.filter(({ metadata, spec }) => spec.nodeName === undefined && !metadata.deletionTimestamp)
  const known = waiting.length > 0 ? await listAll(client, nodes) : []
  for (const pod of waiting) {
    const node = chooseNode(pod, known, all)
    if (!node) continue
    const { name, namespace = '' } = pod.metadata
    const target = { apiVersion: 'v1', kind: 'Node', name: node.metadata.name }
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target }
    await run(['create', '--raw', `/api/v1/namespaces/${namespace}/pods/${name}/binding`, '-f', '-'], binding)
    pod.spec.nodeName = node.metadata.name
  }
  return all.filter(({ spec }) => spec.nodeName !== undefined)
}

/** Registers a ready node: endpoints on a node that does not exist do not count. */
async function registerNode({ apply, run }: Administrator, node: string): Promise<void> {
  await apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: node } })
  await makeReady(run, node)
}

/** Marks a node as ready, as its kubelet and the cluster do when it has a pod network. */
export async function makeReady(run: Administrator['run'], node: string): Promise<void> {
  const status = { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }] } }
  await run(['patch', 'node', node, '--subresource=status', '--type=merge', '-p', JSON.stringify(status)])
  await run(['taint', 'node', node, 'node.kubernetes.io/not-ready-'])
}
