import { type KubeObject, type Rule, type Secret, keyOf } from '../../kube/objects.ts'
import type { Resource } from '../../kube/resource.ts'
import { names } from '../../settings/installed-names.ts'
import type { Problem, WantedObject } from '../announcer.ts'
import { distinct, distinctProblems } from './order.ts'
import type { Session } from './sessions.ts'

/** The name of our single objects, and the prefix of the names of all others. */
export const ownName = 'eip-admission'

/** The labels of every object that we write. */
export const ownLabels = { 'app.kubernetes.io/managed-by': ownName }

/** The label selector of every object that we write. */
export const ownSelector = `app.kubernetes.io/managed-by=${ownName}`

/** The right to the Secret with the password of our sessions. */
export const secretRule: Rule = {
  apiGroups: [''],
  resources: ['secrets'],
  resourceNames: [names.bgpSecret],
  verbs: ['get', 'create', 'patch', 'delete'],
}

/** Whether we wrote an object, or took it over from a predecessor. */
export function isWritten({ metadata: { labels = {} } }: KubeObject): boolean {
  return Object.entries(ownLabels).every(([key, value]) => labels[key] === value)
}

/** The Secret with the password, for the sessions that have one. */
export function passwordSecret(
  password: string | undefined,
  sessions: readonly Session[],
  namespace: string,
): WantedObject[] {
  const using = sessions.filter((session) => session.password !== undefined)
  if (password === undefined || using.length === 0) return []
  const object = secretWith(password, { name: names.bgpSecret, namespace, labels: ownLabels })
  return [{ object, subjects: nodesOf(using) }]
}

/**
 * A Secret with a password. Its type cannot change later, and MetalLB in the same namespace reads no Secret of another
 * type.
 */
export function secretWith(password: string, metadata: Secret['metadata']): Secret {
  const data = { password: Buffer.from(password).toString('base64') }
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/basic-auth', data }
}

/** The nodes of sessions as subjects, sorted and without duplicates. */
export function nodesOf(sessions: readonly Session[]): { node: string }[] {
  return distinct(sessions.map(({ node }) => node)).map((node) => ({ node }))
}

/** The objects whose names no foreign object has, and the known problems with those of the others. */
export function omitTakenNames(
  wanted: readonly WantedObject[],
  foreign: readonly KubeObject[],
  known: readonly Problem[],
): { wanted: WantedObject[]; problems: Problem[] } {
  const isTaken = ({ object }: WantedObject) =>
    foreign.some(({ kind, metadata }) => kind === object.kind && metadata.name === object.metadata.name)
  const refused = wanted.filter(isTaken).flatMap(({ object, subjects }) => {
    const name = object.metadata.namespace === undefined ? object.metadata.name : keyOf(object)
    const message = `${object.kind} ${name} exists and eip-admission does not manage it, so it is not changed; delete or rename it`
    return subjects.map((subject) => ({ subject, message }))
  })
  return { wanted: wanted.filter((one) => !isTaken(one)), problems: distinctProblems([...known, ...refused]) }
}

/** Whether objects of a kind are wanted, but the names of all of them are taken. */
export function lacks(
  kind: string,
  { wanted, possible }: { wanted: readonly WantedObject[]; possible: readonly WantedObject[] },
): boolean {
  const isOne = ({ object }: WantedObject) => object.kind === kind
  return wanted.some(isOne) && !possible.some(isOne)
}

type Kinds = readonly Resource<KubeObject>[]

/** The number of objects of each of these kinds, for people. */
export function countsOf(kinds: Kinds, objects: readonly KubeObject[]): string {
  const counts = Map.groupBy(objects, (one) => one.kind)
  return kinds.flatMap(({ kind }) => (counts.has(kind) ? `${counts.get(kind)?.length} ${kind}` : [])).join(', ')
}

/** The names of kinds for kubectl, with their group: MetalLB and Calico both have BGPPeers. */
export function kubectlNames(kinds: Kinds): string {
  return kinds.map(({ plural, apiVersion }) => `${plural}.${apiVersion.split('/')[0]}`).join()
}

/** The namespaces in which the Secret of our sessions may be: those that our objects name, and the usual one. */
export function secretNamespaces(
  objects: readonly KubeObject[],
  { annotation, usual }: { annotation: string; usual: string },
): string[] {
  return distinct([...objects.flatMap(({ metadata }) => metadata.annotations?.[annotation] ?? []), usual])
}

/** The command that deletes the Secret with the password of the sessions. */
export function secretDeletion(namespace: string): string {
  return `\`kubectl delete secret ${names.bgpSecret} -n ${namespace} --ignore-not-found\``
}
