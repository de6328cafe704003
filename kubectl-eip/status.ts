import { controlPlaneServices } from '../clouds/cloud-choice.ts'
import { isHeld, isOwnIdentity } from '../kube/lease.ts'
import { type Lease, type Service, splitKey } from '../kube/objects.ts'
import { leases, services } from '../kube/resource.ts'
import type { Container, Workload } from '../kube/workloads.ts'
import { countedAddresses } from '../ledger/claim/limits.ts'
import { type ElasticIP, claimKey, phaseOf } from '../ledger/record/elastic-ip.ts'
import { names } from '../settings/installed-names.ts'
import { type ProbeResult, missText, probeOnce } from '../webhooks/webhook-probe.ts'
import { shownAddress } from './explain.ts'
import { type GivenSettings, dataReader, readGivenSettings } from '../inspect/given-settings.ts'
import { ownContainer } from '../inspect/own-deployments.ts'
import type { Reader } from '../inspect/reader.ts'
import { leaderElection } from '../settings/leader-election.ts'
import { type Io, exitCodes, type OutputFormat, formatData, formatAge, formatFacts } from './io.ts'
import { type Cluster, type Readable, listRecords, readable, valueOf, namespaceOf, readDeployments } from './reader.ts'
import { common } from '../settings/common.ts'

export type StatusSeen = {
  records: ElasticIP[]
  deployments: Readable<Workload[]>
  /** The settings of the process in the cluster; undefined if none is visible. */
  given: GivenSettings | undefined
  lease: Readable<Lease | undefined>
  guardianLease: Readable<Lease | undefined>
  mirrors: Readable<Service[]>
  webhooks: ProbeResult
  now: Date
}

/** Prints the state of eip-admission and its addresses. Returns the exit code. */
export async function status(
  cluster: Cluster,
  { output }: { output?: OutputFormat | undefined },
  io: Io,
): Promise<number> {
  const { client } = cluster
  const ofDeployments = await readDeployments(client)
  const given = await readSettings(client, ofDeployments)
  const { namespace, name } = leaseOf({ deployments: ofDeployments, given })
  const readLease = (of: string) => readable(`get Leases in ${namespace}`, client.get(leases, { namespace, name: of }))
  const [records, lease, guardianLease, mirrors, webhooks, now] = await Promise.all([
    listRecords(cluster),
    readLease(name),
    readLease(names.controlPlaneLease),
    readable(
      'get Services in kube-system',
      Promise.all(controlPlaneServices.map((key) => client.get(services, splitKey(key)))),
    ),
    probeOnce({ client, namespace: namespaceOf(ofDeployments) }, new AbortController().signal),
    cluster.serverTime(),
  ])
  const found = 'missing' in mirrors ? mirrors : { value: mirrors.value.filter((service) => service !== undefined) }
  const seen = {
    records,
    deployments: ofDeployments,
    given,
    lease,
    guardianLease,
    mirrors: found,
    webhooks,
    now,
  }
  const waiting = records.filter(({ status: of }) => !of?.conditions?.some(isReady))
  io.print(output === undefined ? formatStatus(seen) : formatData(statusData(seen), output, waiting))
  return isWorking(seen) ? exitCodes.done : exitCodes.problem
}

function isReady({ type, status: is }: { type: string; status: string }): boolean {
  return type === 'Ready' && is === 'True'
}

/** Whether a replica leads and admission reaches it, as far as the person may see. */
function isWorking({ webhooks, lease, now }: StatusSeen): boolean {
  const isLed = 'missing' in lease || (lease.value !== undefined && isHeld(lease.value, now))
  return isLed && webhooks.outcome !== 'missed'
}

/** The facts of the text, for scripts. */
function statusData(seen: StatusSeen): object {
  const { records, webhooks } = seen
  const phases = [...Map.groupBy(records, phaseOf)].map(([phase, all]) => [phase, all.length] as const)
  return {
    working: isWorking(seen),
    addresses: countedAddresses(records).length,
    phases: Object.fromEntries(phases.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    webhooks: webhooks.outcome,
    facts: Object.fromEntries(factsOf(seen)),
  }
}

/** The text about a cluster. Pure. */
export function formatStatus(seen: StatusSeen): string {
  return formatFacts(factsOf(seen))
}

function factsOf(seen: StatusSeen): (readonly [string, string])[] {
  const guardian = holderText(seen.guardianLease, seen.now)
  return [
    ['addresses', addressesText(seen)],
    ['phases', phasesText(seen.records)],
    ['pending', pendingText(seen)],
    ['releases', releasesText(seen)],
    ['limits', limitsText(seen)],
    ['leader', leaderText(seen)],
    ['webhooks', webhooksText(seen.webhooks)],
    ['control plane', mirrorText(seen.mirrors)],
    ...(guardian === undefined ? [] : [['guardian', guardian] as const]),
  ]
}

function addressesText({ records }: StatusSeen): string {
  const count = countedAddresses(records).length
  const kept = records.filter((record) => phaseOf(record) === 'Released').length
  return `${count}${kept > 0 ? `, ${kept} of them kept for Services that no longer exist` : ''}`
}

function phasesText(records: readonly ElasticIP[]): string {
  const groups = Map.groupBy(records, phaseOf)
  return (
    [...groups]
      .map(([phase, { length }]) => `${phase} ${length}`)
      .toSorted()
      .join(', ') || 'none'
  )
}

/** The record that has waited longest for its address. */
function pendingText({ records, now }: StatusSeen): string {
  const pending = records.filter((record) => phaseOf(record) === 'Requested' && !record.metadata.deletionTimestamp)
  const [oldest] = pending.toSorted((a, b) =>
    (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? ''),
  )
  if (!oldest) return 'none'
  const { metadata, status: { message = 'no message yet' } = {} } = oldest
  const age = formatAge(metadata.creationTimestamp, now)
  return `${pending.length}, the oldest for ${age}: ${claimKey(oldest) ?? metadata.name}: ${message}`
}

/** The record with the longest release: a provider may refuse to delete its reservation. */
function releasesText({ records, now }: StatusSeen): string {
  const startOf = ({ metadata, status }: ElasticIP) =>
    status?.deletionRequestedAt ??
    status?.conditions?.find(({ type }) => type === 'Assigned')?.lastTransitionTime ??
    metadata.deletionTimestamp ??
    metadata.creationTimestamp ??
    ''
  const releasing = records.filter((record) => phaseOf(record) === 'Releasing')
  const [oldest] = releasing.toSorted((a, b) => startOf(a).localeCompare(startOf(b)))
  if (!oldest) return 'none'
  const { metadata, status: { message = 'no message yet', address = 'no address' } = {} } = oldest
  const what = `${claimKey(oldest) ?? metadata.name} (${address})`
  return `${releasing.length}, the oldest for ${formatAge(startOf(oldest), now)}: ${what}: ${message}`
}

type NamedLease = { namespace: string; name: string; doubt?: string }

/** The leader's lease; `doubt` says why it may be another one. */
function leaseOf({ deployments, given }: Pick<StatusSeen, 'deployments' | 'given'>): NamedLease {
  const { leaseNamespace, leaseName } = leaderElection
  const of = ({ flag, default: standard }: { flag: string; default: string }) => given?.flags[flag] ?? standard
  const lease = { namespace: of(leaseNamespace), name: of(leaseName) }
  if (given) return lease
  const isHidden = 'missing' in deployments
  return {
    ...lease,
    doubt: isHidden ? `you may not ${deployments.missing}` : 'no Deployment of eip-admission names another',
  }
}

function leaderText({ lease, deployments, given, now }: StatusSeen): string {
  const { namespace, name, doubt } = leaseOf({ deployments, given })
  const place = `lease ${namespace}/${name}`
  const text = holderText(lease, now) ?? `no process has the ${place}`
  return doubt === undefined || 'missing' in lease ? text : `${text} (looked at the default ${place}: ${doubt})`
}

function holderText(read: Readable<Lease | undefined>, now: Date): string | undefined {
  if ('missing' in read) return `unknown: you may not ${read.missing}`
  const { holderIdentity, renewTime } = read.value?.spec ?? {}
  if (!read.value || !holderIdentity) return undefined
  const age = formatAge(renewTime, now)
  const holder = isOwnIdentity(holderIdentity) ? holderIdentity : `${holderIdentity} (which is not eip-admission)`
  return isHeld(read.value, now)
    ? `${holder}, lease renewed ${age} ago`
    : `no process: ${holder} renewed the lease ${age} ago`
}

function webhooksText(result: ProbeResult): string {
  if (result.outcome === 'answered') return 'the API server calls them'
  return result.outcome === 'missed' ? `NOT CALLED: ${missText(result)}` : `unknown: ${result.reason}`
}

function mirrorText(read: Readable<Service[]>): string {
  if ('missing' in read) return `unknown: you may not ${read.missing}`
  const shown = read.value.map((service) => {
    return `${shownAddress(service) ?? 'no address'} (Service kube-system/${service.metadata.name})`
  })
  return shown.join(', ') || 'no address is managed'
}

/**
 * Reads the settings of the process in the cluster, except those in Secrets: this command must not need the right to
 * read Secrets.
 */
async function readSettings(client: Reader, read: Readable<Workload[]>): Promise<GivenSettings | undefined> {
  const [object] = valueOf(read) ?? []
  const container = object && ownContainer([object])
  if (!object || !container) return undefined
  const readData = dataReader(client)
  return readGivenSettings({ object, container }, async (at) => (at.kind === 'Secret' ? {} : readData(at)))
}

/** The limits of addresses from the Deployment. The provider's configuration file sets none. */
function limitsText({ deployments, given }: StatusSeen): string {
  if ('missing' in deployments) return `unknown: you may not ${deployments.missing}`
  const container = ownContainer(deployments.value)
  if (!given || !container) return 'unknown: eip-admission runs outside of the cluster'
  const of = (limit: Limit) => limitOf(limit, given, container)
  return `${of(common.maxAddresses)} in the cluster, ${of(common.maxAddressesPerNamespace)} in a namespace`
}

type Limit = { flag: string; env: string; default: string }

/** The value of a limit, and the unread objects that may override it. */
function limitOf(limit: Limit, given: GivenSettings, { env = [], envFrom = [] }: Container): string {
  const flag = given.flags[limit.flag]
  if (flag !== undefined) return flag
  const own = env.find(({ name }) => name === limit.env)
  const secrets = own ? [own.valueFrom?.secretKeyRef] : envFrom.map(({ secretRef }) => secretRef)
  const unread = [
    ...given.unread.map(({ where }) => where).filter((where) => where.startsWith('ConfigMap')),
    ...secrets.flatMap((secret) => (secret ? [`Secret ${secret.name}`] : [])),
  ]
  const value = given.env.find(({ name }) => name === limit.env)?.value ?? limit.default
  return unread.length === 0 ? value : `${value} (or what ${unread.join(' or ')} says)`
}
