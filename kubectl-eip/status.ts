import { controlPlaneServices } from '../clouds/cloud-choice.ts'
import { isHeld, isOwnIdentity } from '../kube/lease.ts'
import { type Lease, type Service, splitKey } from '../kube/objects.ts'
import { leases, services, configMaps } from '../kube/resource.ts'
import { countedAddresses } from '../ledger/claim/limits.ts'
import { type ElasticIP, claimKey, phaseOf } from '../ledger/record/elastic-ip.ts'
import { names } from '../settings/installed-names.ts'
import type { Container, Workload } from '../inspect/facts.ts'
import { type ProbeResult, missText } from '../webhooks/probe-problem.ts'
import { probeOnce } from '../webhooks/webhook-probe.ts'
import { shownAddress } from './explain.ts'
import { ownContainer } from '../inspect/own-deployments.ts'
import { type Io, exitCodes, type OutputFormat, formatData, formatAge, formatFacts } from './io.ts'
import {
  type Cluster,
  type Readable,
  listRecords,
  readable,
  valueOf,
  flagOf,
  leaseOf,
  namespaceOf,
  readDeployments,
} from './reader.ts'
import type { KubeClient } from '../kube/client.ts'
import { common } from '../settings/common.ts'

export type StatusSeen = {
  records: ElasticIP[]
  deployments: Readable<Workload[]>
  environments: Environments
  lease: Readable<Lease | undefined>
  guardianLease: Readable<Lease | undefined>
  mirrors: Readable<Service[]>
  webhooks: ProbeResult
  now: Date
}

/** Prints how eip-admission and its addresses are. Returns the exit code. */
export async function status(
  cluster: Cluster,
  { output }: { output?: OutputFormat | undefined },
  io: Io,
): Promise<number> {
  const { client, now } = cluster
  const ofDeployments = await readDeployments(client)
  const { namespace, name } = leaseOf(ofDeployments)
  const readLease = (of: string) => readable(`get Leases in ${namespace}`, client.get(leases, { namespace, name: of }))
  const [records, environments, lease, guardianLease, mirrors, webhooks] = await Promise.all([
    listRecords(cluster),
    readEnvironments(client, ofDeployments),
    readLease(name),
    readLease(names.controlPlaneLease),
    readable(
      'get Services in kube-system',
      Promise.all(controlPlaneServices.map((key) => client.get(services, splitKey(key)))),
    ),
    probeOnce({ client, namespace: namespaceOf(ofDeployments) }, new AbortController().signal),
  ])
  const found = 'missing' in mirrors ? mirrors : { value: mirrors.value.filter((service) => service !== undefined) }
  const seen = {
    records,
    deployments: ofDeployments,
    environments,
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

/** Whether a program leads and admission reaches it, as far as a person may see that. */
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
    ['limits', limitsText(seen.deployments, seen.environments)],
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

/** The record whose release has lasted longest: a cloud may refuse to delete its reservation. */
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

function leaderText({ lease, deployments, now }: StatusSeen): string {
  const { namespace, name, doubt } = leaseOf(deployments)
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

/** The contents of the ConfigMaps that set the environment of the process, by their names. */
type Environments = ReadonlyMap<string, Record<string, string>>

/** Reads the ConfigMaps from which the process has its environment. Nobody has to read a Secret for this. */
async function readEnvironments(client: Pick<KubeClient, 'get'>, read: Readable<Workload[]>): Promise<Environments> {
  const [workload] = valueOf(read) ?? []
  const { env = [], envFrom = [] } = (workload && ownContainer([workload])) ?? {}
  const names = [
    ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
    ...envFrom.map(({ configMapRef }) => configMapRef?.name),
  ].filter((name) => name !== undefined)
  const { namespace = '' } = workload?.metadata ?? {}
  const entries = await Promise.all(
    [...new Set(names)].map(async (name) => {
      const found = await readable('', client.get(configMaps, { namespace, name }))
      return [name, valueOf(found)?.data] as const
    }),
  )
  return new Map(entries.flatMap(([name, data]) => (data ? [[name, data] as const] : [])))
}

/** The limits of addresses, as the Deployment says. A configuration file of the cloud sets none. */
function limitsText(read: Readable<Workload[]>, environments: Environments): string {
  if ('missing' in read) return `unknown: you may not ${read.missing}`
  const container = ownContainer(read.value)
  if (!container) return 'unknown: eip-admission runs outside of the cluster'
  const of = (setting: Limit) => limitOf(setting, container, environments)
  return `${of(common.maxAddresses)} in the cluster, ${of(common.maxAddressesPerNamespace)} in a namespace`
}

type Limit = { flag: string; env: string; default: string }

function limitOf(limit: Limit, container: Container, environments: Environments): string {
  const entry = container.env?.findLast(({ name }) => name === limit.env)
  const ofEnv = entry && (entry.value ?? referredValue(entry.valueFrom, environments))
  return flagOf(limit.flag, container) ?? ofEnv ?? wholeSourcesValue(limit, container, environments)
}

function referredValue(from: NonNullable<Container['env']>[number]['valueFrom'], environments: Environments): string {
  const { configMapKeyRef: map, secretKeyRef: secret } = from ?? {}
  if (secret) return `what Secret ${secret.name} says`
  const { name = '', key = '' } = map ?? {}
  return environments.get(name)?.[key] ?? `what ConfigMap ${name} says, which cannot be read`
}

/** The value from sources that set many variables. Of several the last one counts; what a Secret holds is not read. */
function wholeSourcesValue({ env, default: standard }: Limit, { envFrom = [] }: Container, all: Environments): string {
  let value = standard
  let secrets: string[] = []
  for (const { prefix = '', configMapRef, secretRef } of envFrom) {
    if (secretRef?.name !== undefined) secrets.push(secretRef.name)
    const found = env.startsWith(prefix) ? all.get(configMapRef?.name ?? '')?.[env.slice(prefix.length)] : undefined
    if (found === undefined) continue
    value = found
    secrets = []
  }
  return secrets.length === 0 ? value : `${value} (or what Secret ${secrets.join(' or ')} says)`
}
