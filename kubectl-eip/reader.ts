import type { KubeClient } from '../kube/client.ts'
import { KubeError, isForbidden } from '../kube/errors.ts'
import { listAll } from '../kube/list-all.ts'
import { services } from '../kube/resource.ts'
import type { Workload } from '../kube/workloads.ts'
import type { PossibleUsers } from '../ledger/record/address-use.ts'
import { type ElasticIP, elasticIPs, addressKeyOf } from '../ledger/record/elastic-ip.ts'
import { allRequestAnnotations } from '../ledger/users/possible-users.ts'
import { Refusal } from './io.ts'
import { isClaimedBy } from '../ledger/record/source.ts'
import { canonicalIpAddress } from '../lib/ip-address.ts'
import { listOwnDeployments } from '../inspect/own-deployments.ts'
import { ownNamespace } from '../settings/process.ts'

/** A person's cluster, with that person's rights. */
export type Cluster = {
  client: KubeClient
  /** The namespace of the flag, else of the context. */
  namespace: string
  now: Date
  /** The time by the API server's clock, with which the holder of a lease should agree. */
  serverTime: () => Promise<Date>
}

/** The result of a read, or the right that is missing. */
export type Readable<T> = { value: T } | { missing: string }

/** Reads what a person may not be allowed to see. */
export async function readable<T>(right: string, read: Promise<T>): Promise<Readable<T>> {
  try {
    return { value: await read }
  } catch (error) {
    if (isForbidden(error)) return { missing: right }
    throw error
  }
}

/** The result of a read; undefined if a right is missing. */
export function valueOf<T>(read: Readable<T>): T | undefined {
  return 'value' in read ? read.value : undefined
}

const viewHint =
  'An ElasticIP belongs to the whole cluster, so a Role in a namespace cannot grant this right. An administrator can grant it ' +
  'with: `kubectl create clusterrolebinding eip-view --clusterrole=eip-admission-view --user=<you>` (or --group=<yours>)'

const editHint =
  'An administrator can grant it with: `kubectl create clusterrolebinding eip-editor --clusterrole=eip-admission-editor ' +
  '--user=<you>`. It is a right of operators: it can spend money and take addresses'

/** Runs a call for ElasticIPs; if it fails, says which right is missing, or that nothing is installed. */
export async function forElasticIPs<T>(
  verb: 'get' | 'list' | 'create' | 'patch' | 'delete',
  call: Promise<T>,
): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (isForbidden(error)) {
      const hint = verb === 'get' || verb === 'list' ? viewHint : editHint
      throw new Refusal(`you may not ${verb} ElasticIPs (elasticips.eip-admission.dev). ${hint}`)
    }
    if (error instanceof KubeError && error.reason === 'UnknownKind') {
      throw new Refusal('eip-admission is not installed in this cluster: the API server does not know ElasticIPs')
    }
    throw error
  }
}

/** All ElasticIPs. */
export function listRecords({ client }: Cluster): Promise<ElasticIP[]> {
  return forElasticIPs('list', listAll(client, elasticIPs))
}

/** Reads everything that could show or hold an address from the API server. */
export async function readUsers(cluster: Cluster): Promise<PossibleUsers> {
  const right = 'list Services in all namespaces'
  const [all, records] = await Promise.all([readable(right, listAll(cluster.client, services)), listRecords(cluster)])
  if ('missing' in all)
    throw new Refusal(
      `you may not ${right}, and without that it cannot be known whether a Service still shows the address; ask an administrator`,
    )
  return {
    services: all.value,
    records,
    requestAnnotations: allRequestAnnotations({ annotations: [] }),
  }
}

// Which ElasticIP a person names. `move` and `release` read an address, NAMESPACE/NAME of a Service, or NAME. A NAME is
// an ElasticIP or a Service in the namespace of the command, unless there are both.
//
// If a record has its address from an ElasticIP, that ElasticIP is meant, because the record is removed with its
// Service.
type Among = { records: readonly ElasticIP[]; namespace: string }

/** The record that a person names. A Refusal says why there is none, or how to choose from several. */
export function findRecord(text: string, { records, namespace }: Among): ElasticIP {
  const address = canonicalIpAddress(text)
  const names = text.includes('/') ? [text.replace('/', '.')] : [text, `${namespace}.${text}`]
  const named = records.filter(({ metadata, status }) =>
    address === undefined ? names.includes(metadata.name) : canonicalIpAddress(status?.address ?? '') === address,
  )
  const found = named.filter((record) => !named.some((source) => isClaimedBy(source, record)))
  const [first, ...others] = found
  if (!first) throw new Refusal(`${absence(text, { address, namespace })}; list all with \`kubectl eip list -A\``)
  if (others.length === 0) return first
  const ways = found.map((record) => wayToName(record, address)).join(' and ')
  const problem = address === undefined ? `${text} names several ElasticIPs` : `several ElasticIPs have ${text}`
  throw new Refusal(`${problem}: ${ways}. Name one of them`)
}

function absence(text: string, { address, namespace }: { address: string | undefined; namespace: string }): string {
  if (address !== undefined) return `no ElasticIP has ${text}`
  if (text.includes('/')) return `there is no ElasticIP of Service ${text}`
  return `there is no ElasticIP ${text}, and none of Service ${namespace}/${text}`
}

/** How to name a record if a text also names another one. */
function wayToName(record: ElasticIP, typed: string | undefined): string {
  const { name } = record.metadata
  const key = addressKeyOf(record)
  if (key !== undefined) return `${name} (write ${key})`
  if (typed !== undefined) return name
  const { address } = record.status ?? {}
  return address === undefined
    ? `${name} (it has no address yet: wait for that)`
    : `${name} (write its address, ${address})`
}

/** The name of a record for a person to type, whatever the namespace of the command. */
export function typedName(record: ElasticIP, records: readonly ElasticIP[]): string {
  const key = addressKeyOf(record)
  if (key !== undefined) return key
  const { name } = record.metadata
  const isOfService = records.some(({ metadata }) => metadata.name.endsWith(`.${name}`))
  return isOfService ? (record.status?.address ?? name) : name
}

/** The Deployments of eip-admission. */
export function readDeployments(client: Pick<KubeClient, 'get' | 'list'>): Promise<Readable<Workload[]>> {
  return readable('list Deployments', listOwnDeployments(client))
}

/** The namespace of eip-admission; the default one if the person may not see it, or it runs outside the cluster. */
export function namespaceOf(read: Readable<Workload[]>): string {
  return valueOf(read)?.[0]?.metadata.namespace ?? ownNamespace.default
}
