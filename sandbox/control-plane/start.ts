import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, startChild } from '../child.ts'
import { freePorts } from '../ports.ts'
import { type Ports, apiserverArgs, controllerManagerArgs, etcdArgs } from './args.ts'
import { controlPlanePrograms } from './build.ts'
import { type User, kubeconfig } from './kubeconfig.ts'
import { ready } from './wait-until-ready.ts'
import { type ClientPair, webhookClientArgs } from './webhook-client.ts'

export type ControlPlane = {
  url: string
  /** Kubeconfig of a cluster administrator. */
  kubeconfig: string
  /** Writes a kubeconfig for a user of the token file, and says where. */
  kubeconfigFor(user: string): string
  kubectl: string
  dir: string
  /** Where etcd answers its clients, over plain HTTP. */
  etcdUrl: string
  apiserver: { stop(): Promise<void>; start(): Promise<void> }
  /** Stops everything, lets `work` have the folder with etcd's data, and starts everything again. */
  whileDown(work: (data: string) => void): Promise<void>
  stop(): Promise<void>
}

export type ControlPlaneOptions = {
  dir: string
  /** Users beside `admin`, by name, with their groups: RBAC decides what they may. */
  users?: Record<string, string[]>
  controllers?: string[]
  /** What the API server shows to webhooks that ask for a client certificate. */
  webhookClient?: ClientPair
}

const controllers = ['namespace-controller', 'garbage-collector-controller', 'endpointslice-controller']

/** Starts etcd, kube-apiserver and kube-controller-manager on free loopback ports; their data and logs lie in `dir`. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { dir } = options
  const programs = await controlPlanePrograms()
  const [etcdPort = 0, peer = 0, api = 0] = await freePorts(3)
  const ports = { etcd: etcdPort, peer, api }
  const url = `https://127.0.0.1:${api}`
  const admin = makeUser('admin', ['system:masters'])
  const users = [admin, ...Object.entries(options.users ?? {}).map(([name, groups]) => makeUser(name, groups))]
  prepare(dir, users)

  const start = starters({ options, programs, ports, ready: { url, token: admin.token } })
  let etcd = start.etcd()
  let apiserver = await start.apiserver()
  const kubeconfigFor = kubeconfigWriter({ dir, url, users })
  const adminFile = kubeconfigFor('admin')
  let manager = start.manager(adminFile)
  // Clients first: an apiserver whose etcd is gone hangs for minutes after SIGTERM; nothing here is worth flushing.
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
      manager = start.manager(adminFile)
    },
    stop,
  }
}

type Plan = {
  options: ControlPlaneOptions
  programs: string
  ports: Ports
  /** How the API server is asked whether it is ready. */
  ready: { url: string; token: string }
}

/** How each of the programs is started, and started again. */
function starters({ options, programs, ports, ready: at }: Plan) {
  const { dir, webhookClient } = options
  const logFile = (name: string) => join(dir, 'logs', `${name}.log`)
  const start = (name: string, args: string[]): Child =>
    startChild([join(programs, name), ...args], { logFile: logFile(name) })
  const shown = webhookClient ? webhookClientArgs(dir, webhookClient) : []
  const wanted = [...controllers, ...(options.controllers ?? [])]
  return {
    etcd: () => start('etcd', etcdArgs(dir, ports)),
    async apiserver() {
      const child = start('kube-apiserver', [...apiserverArgs(dir, ports), ...shown])
      await ready({ ...at, child, log: logFile('kube-apiserver') })
      return child
    },
    manager: (kubeconfig: string) => start('kube-controller-manager', controllerManagerArgs(kubeconfig, wanted)),
  }
}

function makeUser(name: string, groups: string[]): User {
  return { name, groups, token: randomBytes(24).toString('base64url') }
}

function prepare(dir: string, users: User[]): void {
  mkdirSync(join(dir, 'logs'), { recursive: true })
  const rows = users.map(({ token, name, groups }) => `${token},${name},${name},"${groups.join(',')}"\n`)
  writeFileSync(join(dir, 'tokens.csv'), rows.join(''), { mode: 0o600 })
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(join(dir, 'sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 })
}

function kubeconfigWriter(of: { dir: string; url: string; users: User[] }): (name: string) => string {
  // The API server made its certificate when it started; the authority that signed it is the last one in the file.
  const pem = readFileSync(join(of.dir, 'certs', 'apiserver.crt'), 'utf8')
  const authority = `${pem.slice(pem.lastIndexOf('-----BEGIN CERTIFICATE-----')).trim()}\n`
  return (name) => {
    const user = of.users.find((candidate) => candidate.name === name)
    if (!user) throw new Error(`the control plane knows no user ${name}`)
    const file = join(of.dir, `${name.replaceAll(/[^a-z0-9-]+/gi, '-')}.kubeconfig`)
    writeFileSync(file, kubeconfig({ url: of.url, authority, user }), { mode: 0o600 })
    return file
  }
}
