import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, startChild } from '../child.ts'
import { freePorts } from '../ports.ts'
import { apiserverArgs, controllerManagerArgs, etcdArgs } from './args.ts'
import { controlPlanePrograms } from './build.ts'
import { type User, kubeconfig } from './kubeconfig.ts'
import { ready } from './ready.ts'

export type ControlPlane = {
  url: string
  /** Kubeconfig of a cluster administrator. */
  kubeconfig: string
  /** Writes a kubeconfig for a user of the token file, and says where. */
  kubeconfigFor(user: string): string
  kubectl: string
  dir: string
  apiserver: { stop(): Promise<void>; start(): Promise<void> }
  stop(): Promise<void>
}

export type ControlPlaneOptions = {
  dir: string
  /** Users beside `admin`, by name, with their groups: RBAC decides what they may. */
  users?: Record<string, string[]>
  controllers?: string[]
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

  const logFile = (name: string) => join(dir, 'logs', `${name}.log`)
  const start = (name: string, args: string[]): Child =>
    startChild([join(programs, name), ...args], { logFile: logFile(name) })
  const startApiserver = async () => {
    const child = start('kube-apiserver', apiserverArgs(dir, ports))
    await ready({ url, token: admin.token, child, log: logFile('kube-apiserver') })
    return child
  }
  const etcd = start('etcd', etcdArgs(dir, ports))
  let apiserver = await startApiserver()
  const kubeconfigFor = kubeconfigWriter({ dir, url, users })
  const adminFile = kubeconfigFor('admin')
  const wanted = [...controllers, ...(options.controllers ?? [])]
  const manager = start('kube-controller-manager', controllerManagerArgs(adminFile, wanted))
  return {
    url,
    kubeconfig: adminFile,
    kubeconfigFor,
    kubectl: join(programs, 'kubectl'),
    dir,
    apiserver: {
      stop: async () => void (await apiserver.stop('SIGKILL')),
      start: async () => {
        apiserver = await startApiserver()
      },
    },
    // Clients first: an apiserver whose etcd is gone hangs for minutes after SIGTERM; nothing here is worth flushing.
    async stop() {
      for (const child of [manager, apiserver, etcd]) await child.stop('SIGKILL')
    },
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
