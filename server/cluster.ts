import type { KubeClient } from '../kube/client.ts'
import type { Credentials } from '../kube/credentials.ts'
import { inCluster } from '../kube/in-cluster.ts'
import { kubeconfig } from '../kube/kubeconfig.ts'
import type { Log } from '../kube/log.ts'
import { namespaces } from '../kube/resource.ts'
import { retryUntilAnswered } from './retry-until-answered.ts'

type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** Who we are to which API server: as a kubeconfig says, else as the pod we run in. */
export function credentialsOf(file: string | undefined, env: EnvironmentVariables): Credentials {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env
  return file === undefined && host !== undefined ? inCluster({ host, port }) : kubeconfig({ file })
}

/** The UID of kube-system, by which clusters are told apart in the cloud; waits for an API server that is not there yet. */
export function clusterId(client: KubeClient, log: Log, signal: AbortSignal): Promise<string> {
  const read = async () => {
    const system = await client.get(namespaces, { name: 'kube-system' }, { signal })
    if (!system?.metadata.uid) throw new Error('namespace kube-system is not there')
    return system.metadata.uid
  }
  return retryUntilAnswered(read, { what: 'the API server', log, signal })
}
