import type { KubeEvent, Service } from '../kube/objects.ts'
import type { ElasticIP } from '../ledger/record/elastic-ip.ts'
import { requestIdAnnotation } from '../lib/request-id.ts'
import { requestedByAnnotation } from '../ledger/record/requests-in-flight.ts'

/** One moment in the life of an address. */
export type Moment = { time: string; who: string; what: string; request?: string | undefined }

/** An Event as the API server has it: newer programs count in a series, and write its time in another field. */
type AnyEvent = KubeEvent & {
  eventTime?: string | null
  series?: { count?: number; lastObservedTime?: string } | null
}

/** All that is known of an address in the order of time. Pure. */
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
  // Where a time has no fraction, the second began with it: then the order above decides.
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
