import { fingerprints, fromCaBundle } from '../certs/bundle.ts'
import { KubeError } from '../kube/errors.ts'
import type { ClientConfig, KubeObject, WebhookConfiguration } from '../kube/objects.ts'
import { doctorAdvice } from '../lib/remedy.ts'
import { names } from '../settings/installed-names.ts'
import { type WebhookIdentity, answerProbe } from './identities.ts'
import { isAnswered } from './probe.ts'

/** The two webhook configurations in the API server; undefined if one does not exist. */
export type Configurations = Record<WebhookIdentity['kind'], WebhookConfiguration | undefined>

const kinds = {
  mutating: `MutatingWebhookConfiguration ${names.mutatingConfiguration}`,
  validating: `ValidatingWebhookConfiguration ${names.validatingConfiguration}`,
}

/** Why the API server cannot call one of our webhooks like the probe's; undefined if the configurations are complete. */
export function configurationProblem(found: Configurations, identities: WebhookIdentity[]): string | undefined {
  const entryOf = ({ kind, name }: WebhookIdentity) => found[kind]?.webhooks?.find((webhook) => webhook.name === name)
  const ofProbe = entryOf(answerProbe)?.clientConfig
  for (const identity of identities) {
    const where = kinds[identity.kind]
    if (!found[identity.kind]) return `${where} does not exist`
    const entry = entryOf(identity)
    if (!entry) return `${where} has no webhook ${identity.name}`
    if (!ofProbe) continue
    const called = `webhook ${identity.name} in ${where}`
    if (placeOf(entry.clientConfig) !== placeOf(ofProbe))
      return `${called} has a different URL or Service than ${answerProbe.name}`
    if (!isTrustShared(entry.clientConfig, ofProbe))
      return `${called} has a caBundle without any CA of ${answerProbe.name}`
  }
  return undefined
}

/** The place where the API server calls a webhook, without the path, which differs for each webhook. */
function placeOf({ service, url }: ClientConfig): string {
  const { namespace, name, port = 443 } = service ?? {}
  return JSON.stringify([namespace, name, service && port, URL.parse(url ?? '')?.origin])
}

/** Bundles may differ: each keeps what others added to it, and a new CA reaches one before the other. */
function isTrustShared(one: ClientConfig, other: ClientConfig): boolean {
  if (one.caBundle === other.caBundle) return true
  const [here, there] = [one, other].map(({ caBundle }) => fingerprints(fromCaBundle(caBundle)))
  return here !== undefined && there !== undefined && !here.isDisjointFrom(there)
}

export type ProbeResult = { outcome: 'answered' } | { outcome: 'missed' | 'unknown'; reason: string }

/** Why the probe missed the webhooks and what to do about it, for people. */
export function missText({ reason }: { reason: string }): string {
  return `${reason}; ${doctorAdvice}`
}

/** Interprets the API server's answer to a probe, or its refusal. */
export function probeResult(returned: KubeObject | KubeError): ProbeResult {
  if (!(returned instanceof KubeError)) {
    if (isAnswered(returned)) return { outcome: 'answered' }
    return { outcome: 'missed', reason: `the API server does not call ${answerProbe.name}` }
  }
  const { message } = returned
  const isMissed = message.includes('failed calling webhook') && message.includes(answerProbe.name)
  return isMissed
    ? { outcome: 'missed', reason: `the API server cannot reach the webhooks: ${failureOf(message)}` }
    : { outcome: 'unknown', reason: `the API server refused the probe: ${message}` }
}

/** Why the API server's call failed, without the URL, whose path is secret. */
function failureOf(message: string): string {
  const [, failure = message] = message.split('failed to call webhook: ')
  return failure.replace(/\w+ "https?:[^"]*": /, '').replace(/https?:\S+/g, 'the webhook')
}
