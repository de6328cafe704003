import type { KubeObject } from '../kube/objects.ts'
import type { ProcessSettings } from '../settings/process.ts'

/**
 * The object of Events about the process itself: its Pod or, where it runs outside the cluster, its namespace. Without
 * the uid of the Pod, `kubectl describe pod` would not show them.
 */
export function ownObject(process: Pick<ProcessSettings, 'namespace' | 'podName' | 'podUid'>): KubeObject {
  const { namespace, podName: name, podUid: uid } = process
  if (name === undefined) return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, ...(uid !== undefined && { uid }) } }
}
