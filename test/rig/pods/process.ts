// The process of a container, with exactly the arguments and environment of the pod.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, startChild } from '../../../sandbox/child.ts'
import { productCommand } from '../../../sandbox/product-command.ts'
import type { EnvironmentVariable, Pod } from './pod.ts'

/** The place of the service account's files; each process gets a mount of its own there. */
const account = '/run/secrets/kubernetes.io/serviceaccount'
const mounted = `mkdir -p ${account} && mount --bind "$1" ${account} && shift && exec "$@"`

export type Launch = {
  pod: Pod
  address: string
  folders: Record<string, string>
  /** A folder for the files of the service account. */
  accountFolder: string
  credentials: { token: string; authority: string }
  apiServer: URL
  logFile: string
}

/** Starts the first container of a pod. */
export async function startContainer(launch: Launch): Promise<Child> {
  const { pod, accountFolder, credentials, logFile } = launch
  const [container] = pod.spec.containers
  mkdirSync(accountFolder, { recursive: true })
  const files = { token: credentials.token, 'ca.crt': credentials.authority, namespace: pod.metadata.namespace ?? '' }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(accountFolder, name), text)
  const args = [...(container?.args ?? []).map((arg) => inFolders(arg, launch)), ...ownAddress(launch)]
  const command = ['unshare', '-m', 'sh', '-c', mounted, 'sh', accountFolder, ...(await productCommand()), ...args]
  return startChild(command, { logFile, env: environment(launch) })
}

/** The pods of this node share its network, so each listens only on its own address. */
function ownAddress({ pod, address }: Launch): string[] {
  const isServer = pod.spec.containers[0]?.args[0] === 'serve'
  return isServer ? [`--webhook-bind-address=${address}`, `--bind-address=${address}`] : []
}

/** Volumes are not mounted: an argument that names a mount names its folder instead. */
function inFolders(arg: string, { pod, folders }: Launch): string {
  const mounts = pod.spec.containers[0]?.volumeMounts ?? []
  return mounts.reduce((text, { name, mountPath }) => text.replace(mountPath, folders[name] ?? mountPath), arg)
}

function environment({ pod, address, apiServer }: Launch): NodeJS.ProcessEnv {
  const fields: Record<string, string | undefined> = {
    'metadata.namespace': pod.metadata.namespace,
    'spec.nodeName': pod.spec.nodeName,
    'status.podIP': address,
    'status.hostIP': address,
  }
  const env: Record<string, string> = {
    KUBERNETES_SERVICE_HOST: apiServer.hostname,
    // A URL omits the default port.
    KUBERNETES_SERVICE_PORT: apiServer.port || '443',
  }
  const valueOf = ({ value, valueFrom }: EnvironmentVariable) =>
    valueFrom
      ? fields[valueFrom.fieldRef.fieldPath]
      : value?.replaceAll(/\$\((\w+)\)/g, (_, name: string) => env[name] ?? '')
  for (const variable of pod.spec.containers[0]?.env ?? []) env[variable.name] = valueOf(variable) ?? ''
  return env
}
