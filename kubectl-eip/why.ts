import { listAll } from '../kube/list-all.ts'
import { type Service, splitKey, type KubeEvent } from '../kube/objects.ts'
import { events, services } from '../kube/resource.ts'
import { type ElasticIP, elasticIPs, isSecond, phaseOf, recordName, secondKeys } from '../ledger/record/elastic-ip.ts'
import { requestOfRecord } from '../ledger/record/records.ts'
import { isDnsLabel } from '../lib/names.ts'
import { shortRequestId, requestIdAnnotation } from '../lib/request-id.ts'
import { type WhySeen, explain, shownAddress, balancerOf, balancerText } from './explain.ts'
import { type Io, Refusal, exitCodes, type OutputFormat, formatData, formatFacts, formatTable } from './io.ts'
import { preview } from './preview.ts'
import { type Cluster, type Readable, readable, valueOf, namespaceOf, readDeployments } from './reader.ts'
import { plainText } from '../lib/text.ts'
import { requestedByAnnotation } from '../ledger/record/names.ts'

/**
 * Prints where a Service's address is and how it got there, or why there is none, and what to do. Returns the exit
 * code.
 */
export async function why(
  cluster: Cluster,
  { service, output }: { service: string; output?: OutputFormat | undefined },
  io: Io,
): Promise<number> {
  const seen = await look(cluster, keyOfService(service, cluster.namespace))
  io.print(output === undefined ? formatWhy(seen) : formatData(dataOf(seen), output, recordsOf(seen)))
  return { absent: exitCodes.notFound, waiting: exitCodes.problem, ready: 0, unneeded: 0 }[stateOf(seen)]
}

/** The state of a Service's address, as a word for scripts. */
function stateOf({ service }: WhySeen): 'absent' | 'unneeded' | 'ready' | 'waiting' {
  if (!service) return 'absent'
  if (service.spec.type !== 'LoadBalancer' || service.metadata.deletionTimestamp) return 'unneeded'
  return shownAddress(service) === undefined ? 'waiting' : 'ready'
}

/** The facts of the text, for scripts. */
function dataOf(seen: WhySeen): object {
  const { is, todo } = explain(seen)
  const elasticIPs = recordsOf(seen).map(({ metadata }) => metadata.name)
  const address = seen.service && shownAddress(seen.service)
  return { service: seen.key, state: stateOf(seen), address, is, todo, elasticIPs, timeline: momentsOf(seen) }
}

function recordsOf({ record, seconds }: WhySeen): ElasticIP[] {
  return [valueOf(record) ?? [], ...seconds].flat()
}

function momentsOf({ service, record, events: read }: WhySeen): Moment[] {
  return timelineOf({ service, record: valueOf(record), events: valueOf(read) ?? [] })
}

/** The Service that a person names: `NAME`, or `NAMESPACE/NAME`. */
export function keyOfService(text: string, namespace: string): string {
  const parts = text.split('/')
  const [at, name] = parts.length === 1 ? [namespace, parts[0]] : parts
  if (parts.length > 2 || !isDnsLabel(at ?? '') || !isDnsLabel(name ?? ''))
    throw new Refusal(`${JSON.stringify(text)} is not the name of a Service: write NAME, or NAMESPACE/NAME`)
  return `${at}/${name}`
}

async function look({ client }: Cluster, key: string): Promise<WhySeen> {
  const { namespace, name } = splitKey(key)
  const [service, record, ofService, ofRecord, ofDeployments] = await Promise.all([
    client.get(services, { namespace, name }),
    readable('get ElasticIPs', client.get(elasticIPs, { name: recordName(key) })),
    readable(
      `list Events in namespace ${namespace}`,
      listAll(client, events, { namespace, fieldSelector: about('Service', name) }),
    ),
    readable('', listAll(client, events, { namespace: 'default', fieldSelector: about('ElasticIP', recordName(key)) })),
    readDeployments(client),
  ])
  // A deleted Service may have left records of both.
  const mayHaveTwo = !service || (service.spec.ipFamilies?.length ?? 0) > 1
  const seconds = mayHaveTwo ? await Promise.all(secondKeys(key).map((one) => readSecond(client, one))) : []
  const all: WhySeen['events'] =
    'missing' in ofService ? ofService : { value: [...ofService.value, ...(valueOf(ofRecord) ?? [])] }
  const known = { seconds: seconds.flatMap((second) => second ?? []), installedIn: namespaceOf(ofDeployments) }
  const seen = { key, service, record, events: all, ...known }
  return service && isUnexplained(service, record) ? { ...seen, preview: await preview(client, service) } : seen
}

/** The record of a second address, if the person may read it. */
async function readSecond(client: Cluster['client'], key: string): Promise<ElasticIP | undefined> {
  return valueOf(await readable('get ElasticIPs', client.get(elasticIPs, { name: recordName(key) })))
}

function about(kind: string, name: string): string {
  return `involvedObject.kind=${kind},involvedObject.name=${name}`
}

/**
 * Whether to ask eip-admission. About a Service that has an address, it would only answer that the address is taken.
 */
function isUnexplained(service: Service, record: Readable<ElasticIP | undefined>): boolean {
  const { type, loadBalancerIP } = service.spec
  const isPending = type === 'LoadBalancer' && !loadBalancerIP && !service.metadata.deletionTimestamp
  const isHidden = shownAddress(service) === undefined && valueOf(record) === undefined
  return isPending && isHidden && balancerOf(service) === undefined
}

/** The text about one Service. Pure. */
export function formatWhy(seen: WhySeen): string {
  const { is, todo } = explain(seen)
  const facts = [...balancerFacts(seen), ...recordsOf(seen).flatMap((one) => factsOf(one, seen))]
  const rows = momentsOf(seen).map(({ time, who, what, request }) => [
    time.replace(/\.\d+Z$/, 'Z'),
    request === undefined ? '' : shortRequestId(request),
    who,
    what,
  ])
  const missing = [seen.record, seen.events].flatMap((read) => ('missing' in read ? [read.missing] : []))
  return [
    `${plainText(is)}\n`,
    ...(facts.length > 0 ? [formatFacts(facts)] : []),
    ...(rows.length > 0 ? [formatTable(['TIME', 'REQUEST', 'WHO', 'WHAT'], rows)] : []),
    ...missing.map((right) => `Not everything is shown: you may not ${right}.\n`),
    `${plainText(todo)}\n`,
  ].join('\n')
}

/** The facts about a balancer. It has no record, but the log has its history under the key of its Service. */
function balancerFacts({ service, installedIn, key }: WhySeen): [string, string][] {
  const balancer = service && balancerOf(service)
  if (!balancer) return []
  return [
    ['balancer', balancerText(balancer)],
    ['log', logCommand(installedIn, key)],
  ]
}

function factsOf(record: ElasticIP, { installedIn }: WhySeen): [string, string][] {
  const { spec, status = {}, metadata } = record
  const request = requestOfRecord(record)
  const place = spec.location === undefined ? '' : `, ${spec.location}`
  return [
    ['ElasticIP', `${metadata.name} (${phaseOf(record)}${place}, reclaim policy ${spec.reclaimPolicy})`],
    ...(isSecond(record) ? [['second address', status.address ?? 'not reserved yet'] as [string, string]] : []),
    ...(status.reservationID === undefined ? [] : [['reservation', status.reservationID] as [string, string]]),
    ...(status.message === undefined ? [] : [['message', status.message] as [string, string]]),
    ...(request === undefined || !/^[\w-]+$/.test(request)
      ? []
      : [['log', logCommand(installedIn, request)] as [string, string]]),
  ]
}

/** The command that finds every call to the provider and to the API server for a request, in all replicas' logs. */
function logCommand(namespace: string, text: string): string {
  return `\`kubectl logs -n ${namespace} -l app.kubernetes.io/name=eip-admission --tail=-1 | grep ${text}\``
}

/** A moment in the life of an address. */
type Moment = { time: string; who: string; what: string; request?: string | undefined }

/** An Event from the API server: newer programs count in a series, and write the time into another field. */
type AnyEvent = KubeEvent & {
  eventTime?: string | null
  series?: { count?: number; lastObservedTime?: string } | null
}

/** Everything that is known about an address, in chronological order. Pure. */
export function timelineOf(of: {
  service: Service | undefined
  record: ElasticIP | undefined
  events: readonly KubeEvent[]
}): Moment[] {
  const { service, record, events } = of
  const moments = [
    ...momentsOfService(service),
    ...(record ? momentsOfRecord(record) : []),
    ...events.map(momentOfEvent),
  ]
  // Times are compared by the second, because some have no fraction. Within a second the order above decides.
  return moments.toSorted((a, b) => secondOf(a) - secondOf(b))
}

function secondOf({ time }: Moment): number {
  return Math.floor((Date.parse(time) || 0) / 1000)
}

function momentsOfService(service: Service | undefined): Moment[] {
  const { creationTimestamp, deletionTimestamp } = service?.metadata ?? {}
  const who = 'API server'
  return [
    ...(creationTimestamp === undefined ? [] : [{ time: creationTimestamp, who, what: 'Service created' }]),
    ...(deletionTimestamp === undefined
      ? []
      : [{ time: deletionTimestamp, who, what: 'deletion of the Service requested' }]),
  ]
}

function momentsOfRecord({ metadata, status = {} }: ElasticIP): Moment[] {
  const { annotations = {}, creationTimestamp: time = '', name } = metadata
  const writer = annotations[requestedByAnnotation] ?? 'a person'
  const created = { time, who: writer, what: `ElasticIP ${name} created`, request: annotations[requestIdAnnotation] }
  const history = (status.history ?? []).map((step): Moment => ({
    time: step.time,
    who: step.writer,
    what: step.message === undefined ? step.phase : `${step.phase}: ${step.message}`,
    request: step.request,
  }))
  return [created, ...history]
}

function momentOfEvent(event: AnyEvent): Moment {
  const { type, reason, message, count, series, source, reportingComponent, metadata } = event
  const times = count > 1 ? count : (series?.count ?? 1)
  const mark = type === 'Warning' ? 'Warning ' : ''
  return {
    time: event.lastTimestamp || series?.lastObservedTime || event.eventTime || metadata.creationTimestamp || '',
    who: source?.component || reportingComponent || 'unknown',
    what: `${mark}${reason}: ${message}${times > 1 ? ` (${times} times)` : ''}`,
    request: metadata.annotations?.[requestIdAnnotation],
  }
}
