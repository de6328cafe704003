import { softwareOf } from '../announcers/announcers.ts'
import { ciliumResources } from '../announcers/cilium/resources.ts'
import { bgpAdvertisements, bgpPeers, configurationStates, ipAddressPools } from '../announcers/metallb/resources.ts'
import type { ListOptions } from '../kube/client.ts'
import type { Credentials } from '../kube/credentials.ts'
import { listAll, listAllKnown } from '../kube/list-all.ts'
import { type KubeObject, type ClientConfig, type WebhookConfiguration, splitKey } from '../kube/objects.ts'
import { type Resource, configMaps, events, leases, namespaces, nodes, services } from '../kube/resource.ts'
import { serverFacts } from '../kube/server-facts.ts'
import { type Pod, type Workload, listWorkloads, pods } from '../kube/workloads.ts'
import { definitions } from '../kube/definitions.ts'
import { elasticIPs } from '../ledger/record/elastic-ip.ts'
import { names } from '../settings/installed-names.ts'
import { components } from '../telemetry/event-recorders.ts'
import { readAnnouncer } from './announcer.ts'
import { type Fact, readFact } from './fact.ts'
import type { Context, Facts, Values, RoleObject } from './facts.ts'
import { elasticIPDefinition } from '../manifests/elastic-ip-crd.ts'
import { announcementStates, sessionStates } from './kinds.ts'
import type { ClusterReader, Reader } from './reader.ts'
import type { CloudFactName } from './cloud.ts'
import { type ObjectRights, announcerRights, givenWhere } from '../announcers/object-rights.ts'
import { isControlPlaneGuarded } from '../clouds/ports/cloud-provider.ts'
import { rbac } from '../manifests/rbac.ts'
import { resourceOf } from '../manifests/resources.ts'
import { readConfigurations } from '../webhooks/webhook-probe.ts'
import { once } from 'node:events'
import { connect } from 'node:tls'

/** Where facts of a cluster are read. */
export type SharedSource = { reader: Reader; credentials: Credentials; userAgent: string; context: Context }

export type ClusterSource = SharedSource & { reader: ClusterReader }

type ClusterFacts = Omit<Facts, CloudFactName>

/** The reads that `doctor` and `takeover plan` share. */
export function sharedReads({ reader, credentials, userAgent, context }: SharedSource): {
  [Name in SharedName]: Promise<Facts[Name]>
} {
  return {
    server: readFact(() => serverFacts(credentials, userAgent)),
    cluster: readFact(() => readCluster(reader, context)),
    services: readFact(() => listAll(reader, services)),
    nodes: readFact(() => listAll(reader, nodes)),
    definitions: readFact(async () =>
      (await listAll(reader, definitions)).filter(({ metadata }) => metadata.name.endsWith('.metallb.io')),
    ),
    metallb: readFact(() => metallbObjects(reader)),
    document: readFact(() => readDocument(reader, context)),
    sessions: readFact(() => listAllKnown(reader, sessionStates)),
  }
}

type SharedName = 'server' | 'cluster' | 'services' | 'nodes' | 'definitions' | 'metallb' | 'document' | 'sessions'

/**
 * Reads everything that the checks need from the API server. Facts are read separately: a failed read hides no other
 * fact.
 */
export async function clusterFacts(source: ClusterSource): Promise<ClusterFacts> {
  const { reader, context } = source
  const { process } = context.settings
  const all = <T extends KubeObject>(resource: Resource<T>, options: Omit<ListOptions, 'limit' | 'continue'> = {}) =>
    readFact(() => listAll(reader, resource, options))
  const webhooks = readFact(() => readConfigurations(reader))
  return settled({
    ...sharedReads(source),
    apiServerPods: all(pods, { namespace: 'kube-system', labelSelector: 'component=kube-apiserver' }),
    webhooks,
    probe: readFact(() => probed(reader, process.namespace)),
    servingCertificate: webhooks.then((fact) =>
      'value' in fact ? readFact(() => servingCertificate(fact.value.mutating)) : fact,
    ),
    records: all(elasticIPs),
    workloads: readFact(async () => [
      ...(await listWorkloads(reader)),
      ...staticPods(await listAll(reader, pods, { namespace: 'kube-system' })),
    ]),
    leases: all(leases, { namespace: process.leaseNamespace }),
    events: readFact(() => recentEvents(reader, context.now)),
    roles: readFact(() => installedRoles(reader, context)),
    elasticIPDefinition: readFact(() => reader.get(definitions, { name: elasticIPDefinition.metadata.name })),
    announcer: readFact(() => readAnnouncer(reader, context)),
    ciliumConfigs: readFact(() => ciliumConfigs(reader, context)),
    kubeProxyConfig: readFact(() => readKubeProxyConfig(reader, context)),
    ciliumSessions: readFact(() => listAllKnown(reader, ciliumResources.clusterConfigs)),
    announcements: readFact(() => listAllKnown(reader, announcementStates)),
    mirror: readFact(() => reader.get(services, splitKey(context.vendor.policy.controlPlaneService))),
  })
}

/** The mirrors of static pods, as workloads: the manifest of each is on its node, and nothing else runs it. */
export function staticPods(all: readonly Pod[]): Workload[] {
  return all
    .filter(({ metadata }) => metadata.ownerReferences?.some(({ kind }) => kind === 'Node'))
    .map(({ metadata, spec, status }) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { replicas: 1, template: { spec: { containers: spec?.containers ?? [] } } },
      status: {
        readyReplicas: status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ? 1 : 0,
      },
    }))
}

/** Waits for all reads, which run at the same time. */
export async function settled<T extends Record<string, Fact<unknown>>>(reads: {
  [Name in keyof T]: Promise<T[Name]>
}): Promise<T> {
  const entries = Object.entries<Promise<Fact<unknown>>>(reads)
  const values = await Promise.all(entries.map(async ([name, read]) => [name, await read] as const))
  // The entries have the names and the types of T.
  return Object.fromEntries(values) as T
}

/** A probe without a clear result was not answered: a right is missing, or the API server fails. */
async function probed(reader: ClusterReader, namespace: string): Promise<Values['probe']> {
  const result = await reader.probe(namespace)
  if (result.outcome === 'unknown') throw new Error(result.reason)
  return result
}

/** The id of the cluster, its UID and its ledger. */
async function readCluster(reader: Reader, { settings }: Pick<Context, 'settings'>): Promise<Values['cluster']> {
  const [system, ledger] = await Promise.all([
    reader.get(namespaces, { name: 'kube-system' }),
    reader.get(configMaps, { namespace: settings.process.namespace, name: names.ledgerConfigMap }),
  ])
  const { uid } = system?.metadata ?? {}
  if (uid === undefined) throw new Error('namespace kube-system does not exist')
  return { id: settings.cluster.clusterId ?? uid, uid, ledger }
}

const hourMs = 3_600_000

async function recentEvents(reader: ClusterReader, now: Date): Promise<Values['events']> {
  const lists = components.map((component) => listAll(reader, events, { fieldSelector: `source=${component}` }))
  const all = (await Promise.all(lists)).flat()
  return all.filter(({ lastTimestamp }) => now.getTime() - Date.parse(lastTimestamp) < hourMs)
}

/** MetalLB's objects in every namespace; none if the cluster does not know their kinds. */
async function metallbObjects(reader: Reader): Promise<KubeObject[]> {
  const kinds: Resource<KubeObject>[] = [ipAddressPools, bgpPeers, bgpAdvertisements, configurationStates]
  return (await Promise.all(kinds.map((kind) => listAllKnown(reader, kind)))).flat()
}

/** MetalLB's ConfigMap, if the settings name one that it may read. */
async function readDocument(reader: Reader, { vendor: { loadBalancer } }: Context): Promise<Values['document']> {
  if (loadBalancer.kind !== 'metallb-configmap' && loadBalancer.kind !== 'metallb') return undefined
  return reader.get(configMaps, { namespace: loadBalancer.namespace, name: loadBalancer.name })
}

/** The ConfigMap in which Cilium's chart writes its settings. Nothing says in which namespace Cilium runs. */
async function ciliumConfigs(reader: ClusterReader, { vendor }: Context): Promise<Values['ciliumConfigs']> {
  if (vendor.loadBalancer.kind !== 'cilium') return []
  return listAll(reader, configMaps, { fieldSelector: 'metadata.name=cilium-config' })
}

async function readKubeProxyConfig(reader: Reader, { vendor }: Context): Promise<Values['kubeProxyConfig']> {
  if (softwareOf(vendor.loadBalancer)?.needs !== 'assignment') return undefined
  return reader.get(configMaps, { namespace: 'kube-system', name: 'kube-proxy' })
}

const kinds = ['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']

/** The roles and bindings that `install` applies with these settings, and the cluster's own with the same names. */
export async function installedRoles(reader: ClusterReader, context: Context): Promise<Values['roles']> {
  const { loadBalancer } = context.vendor
  // The chart, and an installation that precedes the announcing software, grant these rights in each namespace.
  const announcing = await givenWhere(
    announcerRights({ loadBalancer, metallbConfigMap: undefined }),
    async ({ role: name, namespace }) => {
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name, namespace } }
      return (await reader.get(resourceOf(role), role.metadata)) !== undefined
    },
  )
  return Promise.all(
    wantedRoles(context, announcing).map(async (wanted) => {
      const { name, namespace } = wanted.metadata
      const found = await reader.get(resourceOf(wanted), { name, ...(namespace !== undefined && { namespace }) })
      return { wanted, found }
    }),
  )
}

function wantedRoles({ settings, vendor }: Context, announcing: ObjectRights[]): RoleObject[] {
  const { namespace, leaseNamespace, leaseName } = settings.process
  const objects = rbac({ namespace, leaseNamespace, leaseName, announcing }) as RoleObject[]
  return objects.filter(({ kind, metadata: { name } }) => {
    if (!kinds.includes(kind) || ofPeople.includes(name)) return false
    return isControlPlaneGuarded(vendor) || !name.startsWith('eip-admission-control-plane')
  })
}

/** Operators may bind or remove these as they like. */
const ofPeople = ['eip-admission-view', 'eip-admission-editor']

const timeoutMs = 3_000

/** The certificate that the webhooks serve; undefined if this machine does not reach them, as outside the cluster. */
async function servingCertificate(
  configuration: WebhookConfiguration | undefined,
): Promise<Values['servingCertificate']> {
  const at = placeOf(configuration?.webhooks?.[0]?.clientConfig)
  if (!at) return undefined
  // Trust does not matter here: we only read the certificate, and send nothing.
  const socket = connect({ ...at, servername: '', rejectUnauthorized: false, timeout: timeoutMs })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(timeoutMs) })
    const certificate = socket.getPeerX509Certificate()
    return certificate && { place: `${at.host}:${at.port}`, endsAt: certificate.validToDate }
  } catch {
    return undefined
  } finally {
    socket.destroy()
  }
}

function placeOf(config: ClientConfig | undefined): { host: string; port: number } | undefined {
  const { service, url } = config ?? {}
  if (service) return { host: `${service.name}.${service.namespace}.svc`, port: service.port ?? 443 }
  const parsed = URL.parse(url ?? '')
  return parsed ? { host: parsed.hostname.replace(/^\[|\]$/g, ''), port: Number(parsed.port || 443) } : undefined
}
