import type { KubeObject } from '../../kube/objects.ts'
import type { Resource } from '../../kube/resource.ts'
import { names } from '../../settings/installed-names.ts'
import { distinct } from './order.ts'

type Kinds = readonly Resource<KubeObject>[]

/** How many objects there are of each of these kinds, for people. */
export function countsOf(kinds: Kinds, objects: readonly KubeObject[]): string {
  const counts = kinds.map(({ kind }) => ({ kind, count: objects.filter((one) => one.kind === kind).length }))
  return counts
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${kind}`)
    .join(', ')
}

/** The names of kinds for kubectl, with their group: MetalLB and Calico both have BGPPeers. */
export function kubectlNames(kinds: Kinds): string {
  return kinds.map(({ plural, apiVersion }) => `${plural}.${apiVersion.split('/')[0]}`).join()
}

/** The namespaces in which the Secret of our sessions may be: our objects name them, and one is usual. */
export function secretNamespaces(
  objects: readonly KubeObject[],
  { annotation, usual }: { annotation: string; usual: string },
): string[] {
  return distinct([...objects.flatMap(({ metadata }) => metadata.annotations?.[annotation] ?? []), usual])
}

/** The command that deletes the password of the sessions, where it is. */
export function secretDeletion(namespace: string): string {
  return `\`kubectl delete secret ${names.bgpSecret} -n ${namespace} --ignore-not-found\``
}
