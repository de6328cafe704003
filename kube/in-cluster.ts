import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import { type Credentials, cachedCredentials } from './credentials.ts'

/** Where the API server is: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, which the kubelet sets in the pod, or a URL. */
export type InClusterOptions = ({ host: string; port: string | number } | { url: string }) & {
  /** The folder of the service account's files. */
  directory?: string
  now?: () => number
}

const mountPoint = '/var/run/secrets/kubernetes.io/serviceaccount'

/** The credentials of the pod's service account. The kubelet renews the token about every hour, so we read the files once a minute. */
export function inCluster({ directory = mountPoint, now, ...where }: InClusterOptions): Credentials {
  const url =
    'url' in where ? where.url : `https://${isIPv6(where.host) ? `[${where.host}]` : where.host}:${where.port}`
  const file = (name: string) => readMounted(join(directory, name))

  const read = async () => {
    const [token, ca, namespace] = await Promise.all([file('token'), file('ca.crt'), file('namespace')])
    return { url, headers: { authorization: `Bearer ${token}` }, tls: { ca }, namespace }
  }
  return cachedCredentials(read, { maxAgeMs: 60_000, now })
}

async function readMounted(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (cause) {
    const hint = 'a pod has it unless automountServiceAccountToken is false; outside a cluster set a kubeconfig'
    throw new Error(`service account file ${path}: cannot be read; ${hint}`, { cause })
  }
}
