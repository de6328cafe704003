import type { KubeClient } from '../kube/client.ts'
import type { Log } from '../kube/log.ts'
import type { ConfigMap } from '../kube/objects.ts'
import { configMaps, namespaces } from '../kube/resource.ts'
import { confirmAnnotation } from './record/names.ts'
import { names } from '../settings/installed-names.ts'
import { common } from '../settings/common.ts'
import { type Problem, SettingsError } from '../settings/problems.ts'
import { titleOf } from '../settings/setting.ts'
import { retryUntilAnswered } from '../kube/connect.ts'

export type ClusterIdOptions = {
  client: KubeClient
  /** The id that the operator set. */
  configured: string | undefined
  namespace: string
  log: Log
  signal: AbortSignal
}

/** The cluster's id at the provider. Waits for an API server that does not answer yet; throws if the id would change. */
export async function clusterId({ client, configured, namespace, log, signal }: ClusterIdOptions): Promise<string> {
  const read = async () => {
    const [system, map] = await Promise.all([
      client.get(namespaces, { name: 'kube-system' }, { signal }),
      client.get(configMaps, { namespace, name: names.ledgerConfigMap }, { signal }),
    ])
    if (!system?.metadata.uid) throw new Error('namespace kube-system does not exist')
    return { uid: system.metadata.uid, map }
  }
  const { uid, map } = await retryUntilAnswered(read, { what: 'the API server', log, signal })
  const problem = idProblem({ configured, uid, map })
  if (problem) throw new SettingsError([problem])
  return configured ?? uid
}

/**
 * Why the cluster may not use an id: its reservations have another one. A ledger without an entry is from a version
 * whose only id was the UID.
 */
export function idProblem(of: {
  configured: string | undefined
  uid: string
  map: ConfigMap | undefined
}): Problem | undefined {
  const { configured, uid, map } = of
  const id = configured ?? uid
  const { cluster: former = uid } = map?.data ?? {}
  if (!map || former === id || map.metadata.annotations?.[confirmAnnotation] === id) return undefined
  const { namespace, name } = map.metadata
  const keep = former === uid ? `leave ${common.clusterId.flag} out` : `set --cluster-id=${former}`
  const confirm = `kubectl annotate configmap -n ${namespace} ${name} --overwrite ${confirmAnnotation}=${id}`
  return {
    setting: titleOf(common.clusterId),
    wrong: `it is ${id}${configured === undefined ? ' by default' : ''}, but the reservations of this cluster have the id ${former}`,
    right: `${keep}; or, to change it, after which those reservations are no longer swept, moved or deleted, run \`${confirm}\``,
  }
}
