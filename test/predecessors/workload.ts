// A predecessor as its manifests install it: Secret, rights, Deployment. For a node, its pods are processes here.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeClient } from '../../kube/client.ts'
import { listAll } from '../../kube/list-all.ts'
import { type Child, startChild } from '../../sandbox/child.ts'
import type { ControlPlane } from '../../sandbox/control-plane/start.ts'
import { type Administrator, makeAdministrator } from '../../sandbox/rig/administrator.ts'
import { type Pod, pods } from '../rig/pods/pod.ts'
import { type PredecessorProgram, argsOf, commandOf } from './programs.ts'

const namespace = 'kube-system'
const account = 'cloud-controller-manager'

/** The user as which its pods write, and the groups of it: a stage has to know them. */
export const predecessorUser = {
  [`system:serviceaccount:${namespace}:${account}`]: [
    'system:serviceaccounts',
    `system:serviceaccounts:${namespace}`,
    'system:authenticated',
  ],
}

/** They turn its Deployment into pods. */
export const workloadControllers = ['deployment-controller', 'replicaset-controller']

export type Workload = {
  /** Scales the Deployment, and waits until as many processes run. */
  scale(replicas: number): Promise<void>
  isRunning(): boolean
  /** Kills the process of the pod; the node starts it again. */
  kill(): Promise<void>
  logFile: string
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

/** Installs a predecessor and runs it on `node`. */
export async function installPredecessor(options: WorkloadOptions, node: string): Promise<Workload> {
  const { program, controlPlane, client } = options
  const administrator = makeAdministrator(controlPlane)
  const file = settingsFile(options)
  for (const object of objectsOf(program, { file, node })) await administrator.apply(object)
  const runs = runner(options, file)
  const over = new AbortController()
  const loop = async () => {
    while (!over.signal.aborted) {
      await sync({ client, administrator, program, runs }).catch(() => undefined)
      await sleep(150)
    }
  }
  const done = loop()
  const isAsMany = async (replicas: number) => {
    for (;;) {
      const all = await podsOf(client, program)
      if (all.length === replicas && runs.isRunning() === replicas > 0) return
      await sleep(100)
    }
  }
  await isAsMany(1)
  return {
    async scale(replicas) {
      await administrator.run(['scale', 'deployment', program.name, '-n', namespace, `--replicas=${replicas}`])
      await isAsMany(replicas)
    },
    isRunning: runs.isRunning,
    kill: () => runs.end('SIGKILL'),
    logFile: runs.logFile,
    async stop() {
      over.abort()
      await done
      await runs.end('SIGKILL')
    },
  }
}

type Runner = ReturnType<typeof runner>

/** The process of the pod: at most one. */
function runner({ program, controlPlane }: WorkloadOptions, file: string) {
  const { dir } = controlPlane
  const [user = ''] = Object.keys(predecessorUser)
  const kubeconfig = controlPlane.kubeconfigFor(user)
  const folder = join(dir, 'predecessor')
  mkdirSync(folder, { recursive: true })
  const config = join(folder, 'cloud-sa.json')
  writeFileSync(config, file, { mode: 0o600 })
  const logFile = join(dir, 'logs', `${program.name}.log`)
  const args = argsOf(program).map((arg) => arg.replace('/etc/cloud-sa/cloud-sa.json', config))
  let child: Child | undefined
  return {
    logFile,
    isRunning: () => child?.isRunning() === true,
    start() {
      const { command } = commandOf(program)
      // MetalLB's client in the real programs reads the variable, the rest of them the flag.
      const env = { PATH: process.env.PATH, HOME: folder, KUBECONFIG: kubeconfig }
      child = startChild([...command, ...args, `--kubeconfig=${kubeconfig}`], { logFile, env })
    },
    end: async (signal: NodeJS.Signals = 'SIGTERM') => void (await child?.stop(signal)),
  }
}

type Sync = { client: KubeClient; administrator: Administrator; program: PredecessorProgram; runs: Runner }

/** Does what a kubelet does for the pods of the Deployment. */
async function sync({ client, administrator, program, runs }: Sync): Promise<void> {
  for (const pod of await podsOf(client, program)) {
    const { name, deletionTimestamp } = pod.metadata
    if (deletionTimestamp !== undefined) {
      await runs.end()
      await administrator.run(['delete', 'pod', name, '-n', namespace, '--force', '--grace-period=0', '--wait=false'])
      continue
    }
    if (!runs.isRunning()) runs.start()
    if (pod.status?.phase === 'Running') continue
    const conditions = ['Initialized', 'ContainersReady', 'Ready'].map((type) => ({ type, status: 'True' }))
    const merge = { status: { phase: 'Running', conditions } }
    await client.patch(pods, { namespace, name, patch: { merge } }, { subresource: 'status' })
  }
}

async function podsOf(client: KubeClient, { name }: PredecessorProgram): Promise<Pod[]> {
  return listAll(client, pods, { namespace, labelSelector: `app=${name}` })
}

function settingsFile({ program, cloud, settings }: WorkloadOptions): string {
  const access = { apiKey: cloud.token, projectID: cloud.project, 'base-url': cloud.url }
  return JSON.stringify({ ...access, ...program.settings, ...settings })
}

function objectsOf(program: PredecessorProgram, { file, node }: { file: string; node: string }): object[] {
  const { name, secret, image } = program
  const labels = { app: name }
  const command = [`./${name}`, ...argsOf(program)]
  const volumeMounts = [{ name: 'cloud-sa-volume', mountPath: '/etc/cloud-sa', readOnly: true }]
  const template = {
    metadata: { labels },
    spec: {
      nodeName: node,
      hostNetwork: true,
      serviceAccountName: account,
      tolerations: [{ operator: 'Exists' }],
      containers: [{ name, image, command, volumeMounts }],
      volumes: [{ name: 'cloud-sa-volume', secret: { secretName: secret } }],
    },
  }
  return [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: secret, namespace },
      stringData: { 'cloud-sa.json': file },
    },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace } },
    ...rights,
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace, labels },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    },
  ]
}

const roleName = 'system:cloud-controller-manager'
const allButDelete = ['get', 'list', 'watch', 'create', 'update', 'patch']

/** The rights that the manifests give. */
const rights = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: roleName },
    rules: [
      { apiGroups: [''], resources: ['namespaces'], verbs: ['get'] },
      { apiGroups: [''], resources: ['nodes'], verbs: ['*'] },
      { apiGroups: [''], resources: ['nodes/status', 'services/status'], verbs: ['list', 'watch', 'update', 'patch'] },
      { apiGroups: [''], resources: ['services', 'endpoints', 'configmaps', 'events'], verbs: allButDelete },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: allButDelete },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: allButDelete },
      {
        apiGroups: ['metallb.io'],
        resources: ['bgppeers', 'bgpadvertisements', 'ipaddresspools'],
        verbs: [...allButDelete, 'delete'],
      },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: roleName },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: roleName },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  },
]
