import type { KubeClient } from '../kube/client.ts'
import type { Credentials } from '../kube/credentials.ts'
import { inCluster } from '../kube/in-cluster.ts'
import { kubeconfig } from '../kube/kubeconfig.ts'
import type { Log } from '../kube/log.ts'
import { namespaces } from '../kube/resource.ts'
import { retryUntilAnswered } from './retry-until-answered.ts'

type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** Our credentials for the API server: from a kubeconfig, else those of the pod. */
export function credentialsOf(file: string | undefined, env: EnvironmentVariables): Credentials {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env
  return file === undefined && host !== undefined ? inCluster({ host, port }) : kubeconfig({ file })
}

/** The UID of kube-system, which identifies the cluster in the cloud. Waits for an API server that does not answer yet. */
export function clusterId(client: KubeClient, log: Log, signal: AbortSignal): Promise<string> {
  const read = async () => {
    const system = await client.get(namespaces, { name: 'kube-system' }, { signal })
    if (!system?.metadata.uid) throw new Error('namespace kube-system does not exist')
    return system.metadata.uid
  }
  return retryUntilAnswered(read, { what: 'the API server', log, signal })
}
