import type { Announcements, Concern, Problem } from '../announcer.ts'
import type { KubeEvent, KubeObject } from '../../kube/objects.ts'
import { nameOf, parseAddress } from './address.ts'
import { noPool } from './no-pool.ts'
import { distinctProblems, inOrder } from './order.ts'
import { type ConfigurationState, configurationStates } from './resources.ts'

/** What MetalLB says against its configuration and against Services, to whom it is about. */
export function verdict(reports: readonly KubeObject[], state: Announcements): Problem[] {
  const places = placesOf(state)
  return distinctProblems([
    ...reports.filter(isState).flatMap((report) => objections(report, places)),
    ...failures(reports.filter(isEvent)),
  ])
}

/** Somebody that a message can be about, and the words by which it would name them. */
type Place = { concern: Concern; words: string[] }

function placesOf({ addresses, nodes }: Announcements): Place[] {
  const ofServices = addresses.flatMap(({ address, services }) =>
    services.map((service) => ({ concern: { service }, words: [address, service, service.replace('/', '.')] })),
  )
  const ofNodes = nodes.map(({ node, hostname, peers }) => {
    const ofPeers = peers.flatMap(({ peerAddress, localAsn }) => {
      const router = parseAddress(peerAddress)
      return router ? [router.text, `${node}.${nameOf(router)}`, `as${localAsn}.${nameOf(router)}`] : []
    })
    return { concern: { node }, words: [node, hostname, ...ofPeers] }
  })
  return [...ofServices, ...ofNodes]
}

function isState(report: KubeObject): report is ConfigurationState {
  return report.kind === configurationStates.kind
}

function objections({ metadata, status }: ConfigurationState, places: readonly Place[]): Problem[] {
  if (status?.result !== 'Invalid') return []
  const failed = (status.conditions ?? []).filter((condition) => condition.status === 'False')
  const text = status.errorSummary || failed.map(({ message }) => message).join('; ')
  const named = places.filter(({ words }) => words.some((word) => names(text, word)))
  const node = metadata.labels?.['metallb.io/node-name']
  // Nothing that is new is announced while the whole is refused, whoever is to blame.
  const concerned = named.length > 0 || node ? named : places.filter(({ concern }) => 'service' in concern)
  const concerns = concerned.length === 0 && node ? [{ node }] : concerned.map(({ concern }) => concern)
  return concerns.map((concern) => ({
    concern,
    message: `MetalLB (${metadata.name}) refuses its configuration: ${text}`,
  }))
}

/** Whether a text has a name as a word of its own, not as a part of a longer one. */
function names(text: string, name: string): boolean {
  return name !== '' && new RegExp(`(?<![\\w.-])${RegExp.escape(name)}(?![\\w-]|\\.\\w)`).test(text)
}

/** What MetalLB reports of a Service when it could give it its address, and when it could not. */
const outcomes: Record<string, 'good' | 'bad'> = {
  IPAllocated: 'good',
  AllocationFailed: 'bad',
  LoadBalancerFailed: 'bad',
}

function isEvent(report: KubeObject): report is KubeEvent {
  return report.kind === 'Event'
}

/** The last word on each Service counts: Events stay for an hour, whatever came of it. */
function failures(events: readonly KubeEvent[]): Problem[] {
  const said = events.filter(({ reason, source, reportingComponent, involvedObject }) => {
    const isMetallb = (source?.component || reportingComponent || '').startsWith('metallb-')
    return isMetallb && involvedObject.kind === 'Service' && outcomes[reason] !== undefined
  })
  const last = new Map<string, KubeEvent>()
  const inTime = said.toSorted((one, other) => inOrder(one.lastTimestamp ?? '', other.lastTimestamp ?? ''))
  for (const event of inTime) last.set(`${event.involvedObject.namespace}/${event.involvedObject.name}`, event)
  return [...last]
    .filter(([, { reason, message }]) => outcomes[reason] === 'bad' && !message.includes(noPool))
    .map(([service, { reason, message }]) => ({ concern: { service }, message: `MetalLB: ${reason}: ${message}` }))
}
