import type { Announcements, Subject, Problem } from '../announcer.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { nameOf, parseAddress } from '../shared/address.ts'
import { distinctProblems } from '../shared/order.ts'
import { type ConfigurationState, configurationStates } from './resources.ts'

/** The problems that MetalLB reports about its configuration. */
export function reportedProblems(reports: readonly KubeObject[], state: Announcements): Problem[] {
  const subjects = namedSubjects(state)
  return distinctProblems(reports.filter(isState).flatMap((report) => stateProblems(report, subjects)))
}

/** A Service or node, and the words by which a message of MetalLB would name it. */
type NamedSubject = { subject: Subject; words: string[] }

function namedSubjects({ addresses, nodes }: Announcements): NamedSubject[] {
  const ofServices = addresses.flatMap(({ address, services }) =>
    services.map((service) => ({ subject: { service }, words: [address, service, service.replace('/', '.')] })),
  )
  const ofNodes = nodes.map(({ node, hostname, peers }) => {
    const ofPeers = peers.flatMap(({ peerAddress, localAsn }) => {
      const router = parseAddress(peerAddress)
      return router ? [router.text, `${node}.${nameOf(router)}`, `as${localAsn}.${nameOf(router)}`] : []
    })
    return { subject: { node }, words: [node, hostname, ...ofPeers] }
  })
  return [...ofServices, ...ofNodes]
}

function isState(report: KubeObject): report is ConfigurationState {
  return report.kind === configurationStates.kind
}

function stateProblems({ metadata, status }: ConfigurationState, known: readonly NamedSubject[]): Problem[] {
  if (status?.result !== 'Invalid') return []
  const failed = (status.conditions ?? []).filter((condition) => condition.status === 'False')
  const text = status.errorSummary || failed.map(({ message }) => message).join('; ')
  const named = known.filter(({ words }) => words.some((word) => hasWord(text, word)))
  const node = metadata.labels?.['metallb.io/node-name']
  // While MetalLB refuses its configuration it announces nothing new, so every Service is affected.
  const affected = named.length > 0 || node ? named : known.filter(({ subject }) => 'service' in subject)
  const subjects = affected.length === 0 && node ? [{ node }] : affected.map(({ subject }) => subject)
  return subjects.map((subject) => ({
    subject,
    message: `MetalLB (${metadata.name}) refuses its configuration: ${text}`,
    ...(unspecific.test(text) && { mayPass: true as const }),
  }))
}

/**
 * MetalLB names no cause where a speaker or the controller tries again by itself. That is so for a moment while it
 * takes up a changed pool, address or peer.
 */
const unspecific = /^(configuration error: )?general handler sync state error$/

/** Whether a text contains a word, and not only as a part of a longer word. */
function hasWord(text: string, word: string): boolean {
  return word !== '' && new RegExp(`(?<![\\w.-])${RegExp.escape(word)}(?![\\w-]|\\.\\w)`).test(text)
}
