import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, startChild } from '../child.ts'
import { freePorts } from '../ports.ts'
import { type Ports, apiserverArgs, controllerManagerArgs, etcdArgs } from './args.ts'
import { count } from './count.ts'
import { apiServerPrograms, controlPlanePrograms } from './build.ts'
import { type User, kubeconfigWriter, writeUsers } from './kubeconfig.ts'
import { waitUntilReady } from './wait-until-ready.ts'
import { type ClientPair, webhookClientArgs } from './webhook-client.ts'

export type ControlPlane = {
  url: string
  /** The kubeconfig file of a cluster administrator. */
  kubeconfig: string
  /** Writes a kubeconfig for a user of the token file, and returns its path. */
  kubeconfigFor(user: string): string
  kubectl: string
  dir: string
  /** The URL of etcd for clients, over plain HTTP. */
  etcdUrl: string
  apiserver: { stop(): Promise<void>; start(): Promise<void> }
  /** Stops everything, calls `work` with the folder of etcd's data, and starts everything again. */
  whileDown(work: (data: string) => void): Promise<void>
  stop(): Promise<void>
}

export type ControlPlaneOptions = {
  dir: string
  /** Users in addition to `admin`, by name, with their groups; RBAC decides what they may do. */
  users?: Record<string, string[]>
  controllers?: string[]
  /** More flags of the API server. */
  apiServerFlags?: string[]
  /** The ranges of cluster IPs: one, or one of each family, the primary first. IPv4 alone when absent. */
  serviceRanges?: string[]
  /** The certificate that the API server presents to webhooks that request one. */
  webhookClient?: ClientPair
  /** Resolves when kube-controller-manager is built; it starts then. Without this, everything is built first. */
  controllerManager?: Promise<unknown>
}

const controllers = ['namespace-controller', 'garbage-collector-controller', 'endpointslice-controller']

/** Starts etcd, kube-apiserver and kube-controller-manager on free loopback ports, with data and logs in `dir`. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { dir } = options
  const programs = await (options.controllerManager ? apiServerPrograms() : controlPlanePrograms())
  const [etcdPort = 0, peer = 0, api = 0] = await freePorts(3)
  const ports = { etcd: etcdPort, peer, api }
  const url = `https://127.0.0.1:${api}`
  const admin = makeUser('admin', ['system:masters'])
  const users = [admin, ...Object.entries(options.users ?? {}).map(([name, groups]) => makeUser(name, groups))]
  prepare(dir, users)

  const start = starters({ options, programs, ports, ready: { url, token: admin.token } })
  let etcd = start.etcd()
  let apiserver = await start.apiserver()
  const kubeconfigFor = kubeconfigWriter(dir, url)
  const adminFile = kubeconfigFor('admin')
  const manager = lateChild(() => start.manager(adminFile), options.controllerManager)
  manager.start()
  // Clients of etcd stop first: an API server without etcd hangs for minutes after SIGTERM. No data here needs a flush.
  const stop = async () => {
    for (const child of [manager, apiserver, etcd]) await child.stop('SIGKILL')
  }
  return {
    url,
    kubeconfig: adminFile,
    kubeconfigFor,
    kubectl: join(programs, 'kubectl'),
    dir,
    etcdUrl: `http://127.0.0.1:${etcdPort}`,
    apiserver: {
      stop: async () => void (await apiserver.stop('SIGKILL')),
      start: async () => void (apiserver = await start.apiserver()),
    },
    async whileDown(work) {
      await stop()
      work(join(dir, 'etcd'))
      etcd = start.etcd()
      apiserver = await start.apiserver()
      manager.start()
    },
    stop,
  }
}

/** A program that starts at once or, with `ready`, when that resolves, unless it was stopped before. */
function lateChild(startNow: () => Child, ready: Promise<unknown> | undefined) {
  let child: Child | undefined
  let isWanted = false
  const begin = () => {
    if (isWanted) child = startNow()
  }
  return {
    start() {
      isWanted = true
      // A caller that needs the program waits for the build as well, and gets its error.
      if (ready) ready.then(begin, () => {})
      else begin()
    },
    async stop(signal: NodeJS.Signals) {
      isWanted = false
      await child?.stop(signal)
    },
  }
}

type Plan = {
  options: ControlPlaneOptions
  programs: string
  ports: Ports
  /** The URL and token for checking whether the API server is ready. */
  ready: { url: string; token: string }
}

/** Returns a function that starts it for each program; restarts use the same functions. */
function starters({ options, programs, ports, ready: at }: Plan) {
  const { dir, webhookClient, serviceRanges, apiServerFlags = [] } = options
  const logFile = (name: string) => join(dir, 'logs', `${name}.log`)
  const start = (name: string, args: string[]): Child =>
    startChild([join(programs, name), ...args], { logFile: logFile(name) })
  const webhookArgs = webhookClient ? webhookClientArgs(dir, webhookClient) : []
  const wanted = [...controllers, ...(options.controllers ?? [])]
  return {
    etcd: () => start('etcd', etcdArgs(dir, ports)),
    async apiserver() {
      const args = [...apiserverArgs(dir, ports, serviceRanges), ...webhookArgs, ...apiServerFlags]
      const child = start('kube-apiserver', args)
      await waitUntilReady({ ...at, child, log: logFile('kube-apiserver') })
      return child
    },
    manager: (kubeconfig: string) => start('kube-controller-manager', controllerManagerArgs(kubeconfig, wanted)),
  }
}

function makeUser(name: string, groups: string[]): User {
  return { name, groups, token: randomBytes(24).toString('base64url') }
}

function prepare(dir: string, users: User[]): void {
  count('started')
  mkdirSync(join(dir, 'logs'), { recursive: true })
  writeUsers(dir, users)
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(join(dir, 'sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 })
}
