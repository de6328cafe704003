// A predecessor as its manifests install it: Secret, rights, Deployment or DaemonSet. For a node, its pod is a process here.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeClient } from '../../kube/client.ts'
import { listAll } from '../../kube/list-all.ts'
import { nodes } from '../../kube/resource.ts'
import { type Child, startChild } from '../../sandbox/child.ts'
import { type VendorProxy, startVendorProxy } from '../../sandbox/clouds/vendor-proxy.ts'
import type { ControlPlane } from '../../sandbox/control-plane/start.ts'
import { dialects } from '../../sandbox/dialects.ts'
import { type Administrator, makeAdministrator } from '../../sandbox/rig/administrator.ts'
import { type Pod, pods } from '../rig/pods/pod.ts'
import { controlPlaneLabel, namespace, objectsOf, userOf } from './manifests.ts'
import { type PredecessorProgram, argsOf, commandOf } from './programs.ts'

/** They turn its workload into pods. */
export const workloadControllers = ['deployment-controller', 'replicaset-controller', 'daemonset-controller']

export type Workload = {
  /** Lets the workload have a pod or none, and waits until a process runs or none does. */
  turn(state: 'on' | 'off'): Promise<void>
  logFile: string
  /** Hosts that a real program called besides its vendor's. */
  otherHosts: readonly string[]
  stop(): Promise<void>
}

export type WorkloadOptions = {
  program: PredecessorProgram
  controlPlane: ControlPlane
  client: KubeClient
  cloud: { url: string; project: string; token: string }
  /** More fields of its settings file. */
  settings?: Record<string, string>
}

/** Installs a predecessor, which runs on `node`, a DaemonSet as soon as the cluster has that node. */
export async function installPredecessor(options: WorkloadOptions, node: string): Promise<Workload> {
  const { program, controlPlane, client, cloud } = options
  const { kind, dialect, name } = program
  const administrator = makeAdministrator(controlPlane)
  const file = settingsFile(options)
  for (const object of objectsOf(program, { file, node })) await administrator.apply(object)
  const isReal = commandOf(program).isReal
  const proxy = isReal ? await startVendorProxy(dialects[dialect].vendorHosts(cloud.url)) : undefined
  const runs = runner(options, { file, proxy })
  const over = new AbortController()
  const loop = async () => {
    while (!over.signal.aborted) {
      await sync({ client, administrator, program, runs, node }).catch(() => undefined)
      await sleep(150)
    }
  }
  const done = loop()
  return {
    async turn(state) {
      const isOn = state === 'on'
      await administrator.run(turningCommand(kind, name, isOn))
      for (;;) {
        const all = await podsOf(client, program)
        if (all.length === (isOn ? 1 : 0) && runs.isRunning() === isOn) return
        await sleep(100)
      }
    },
    logFile: runs.logFile,
    otherHosts: proxy?.refused ?? [],
    async stop() {
      over.abort()
      await done
      await runs.end('SIGKILL')
      await proxy?.close()
    },
  }
}

/** The commands that stop or start a workload. */
function turningCommand(kind: PredecessorProgram['kind'], name: string, isOn: boolean): string[] {
  const workload = [kind.toLowerCase(), name, '-n', namespace]
  if (kind === 'Deployment') return ['scale', ...workload, `--replicas=${isOn ? 1 : 0}`]
  const nodeSelector = { 'example.com/no-node': isOn ? null : 'true' }
  return ['patch', ...workload, '-p', JSON.stringify({ spec: { template: { spec: { nodeSelector } } } })]
}

type Runner = ReturnType<typeof runner>

/** The process of the pod: at most one. */
function runner(
  { program, controlPlane }: WorkloadOptions,
  { file, proxy }: { file: string; proxy: VendorProxy | undefined },
) {
  const { dir } = controlPlane
  const [user = ''] = Object.keys(userOf(program))
  const kubeconfig = controlPlane.kubeconfigFor(user)
  const folder = join(dir, 'predecessor')
  mkdirSync(folder, { recursive: true })
  const config = join(folder, 'cloud-sa.json')
  writeFileSync(config, file, { mode: 0o600 })
  const logFile = join(dir, 'logs', `${program.name}.log`)
  const args = argsOf(program).map((arg) => arg.replace('/etc/cloud-sa/cloud-sa.json', config))
  // MetalLB's client in the real programs reads this variable, the rest of them the flag.
  const env = { PATH: process.env.PATH, HOME: folder, KUBECONFIG: kubeconfig, ...proxied(proxy, folder) }
  let child: Child | undefined
  return {
    logFile,
    isRunning: () => child?.isRunning() === true,
    start() {
      const { command } = commandOf(program)
      child = startChild([...command, ...args, `--kubeconfig=${kubeconfig}`], { logFile, env })
    },
    end: async (signal: NodeJS.Signals = 'SIGTERM') => void (await child?.stop(signal)),
  }
}

/** The real programs call their vendor's host names, whatever their settings say. */
function proxied(proxy: VendorProxy | undefined, folder: string): Record<string, string> {
  if (!proxy) return {}
  const authority = join(folder, 'authority.pem')
  writeFileSync(authority, proxy.authority)
  return { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url, SSL_CERT_FILE: authority }
}

type Sync = {
  client: KubeClient
  administrator: Administrator
  program: PredecessorProgram
  runs: Runner
  node: string
}

/** Does what a scheduler and a kubelet do for the pods of the workload. */
async function sync({ client, administrator, program, runs, node }: Sync): Promise<void> {
  if (program.kind === 'DaemonSet') await joinControlPlane(client, node)
  for (const pod of await podsOf(client, program)) {
    const { name, deletionTimestamp } = pod.metadata
    if (deletionTimestamp !== undefined) {
      await runs.end()
      await administrator.run(['delete', 'pod', name, '-n', namespace, '--force', '--grace-period=0', '--wait=false'])
      continue
    }
    if (pod.spec.nodeName === undefined) await bind(administrator, name, node)
    if (!runs.isRunning()) runs.start()
    if (pod.status?.phase !== 'Running') await sayReady(client, pod.metadata)
  }
}

/** Says that a pod runs and is ready. */
export async function sayReady(client: KubeClient, { namespace: of, name }: Pod['metadata']): Promise<void> {
  const conditions = ['Initialized', 'ContainersReady', 'Ready'].map((type) => ({ type, status: 'True' }))
  const merge = { status: { phase: 'Running', conditions } }
  await client.patch(pods, { namespace: of, name, patch: { merge } }, { subresource: 'status' })
}

/** kubeadm labels the nodes of its control plane when they join. */
async function joinControlPlane(client: KubeClient, name: string): Promise<void> {
  const node = await client.get(nodes, { name })
  if (!node || controlPlaneLabel in (node.metadata.labels ?? {})) return
  await client.patch(nodes, { name, patch: { merge: { metadata: { labels: { [controlPlaneLabel]: '' } } } } })
}

async function bind({ run }: Administrator, pod: string, node: string): Promise<void> {
  const target = { apiVersion: 'v1', kind: 'Node', name: node }
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: pod, namespace }, target }
  await run(['create', '--raw', `/api/v1/namespaces/${namespace}/pods/${pod}/binding`, '-f', '-'], binding)
}

async function podsOf(client: KubeClient, { name }: PredecessorProgram): Promise<Pod[]> {
  return listAll(client, pods, { namespace, labelSelector: `app=${name}` })
}

function settingsFile({ program, cloud, settings }: WorkloadOptions): string {
  // The real program of Cherry Servers reads a number, and ends where it finds a text.
  const projectID = program.dialect === 'cherry-servers' ? Number(cloud.project) : cloud.project
  const access = { apiKey: cloud.token, projectID, 'base-url': cloud.url }
  return JSON.stringify({ ...access, ...program.settings, ...settings })
}
