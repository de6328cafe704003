import { KubeError } from '../kube/errors.ts'
import type { ClientConfig, KubeObject, WebhookConfiguration } from '../kube/objects.ts'
import { names } from '../manifests/names.ts'
import { type WebhookIdentity, answerProbe } from '../webhooks/identities.ts'
import { isAnswered } from '../webhooks/probe.ts'

/** The two webhook configurations as the API server has them; undefined where one does not exist. */
export type Configurations = Record<WebhookIdentity['kind'], WebhookConfiguration | undefined>

const kinds = {
  mutating: `MutatingWebhookConfiguration ${names.mutatingConfiguration}`,
  validating: `ValidatingWebhookConfiguration ${names.validatingConfiguration}`,
}
const remedy = 'run eip-admission install'

/** Why the API server cannot call one of our webhooks as it calls the probe's; undefined if the configurations are complete. */
export function configurationProblem(found: Configurations, identities: WebhookIdentity[]): string | undefined {
  const entryOf = ({ kind, name }: WebhookIdentity) => found[kind]?.webhooks?.find((webhook) => webhook.name === name)
  const ofProbe = entryOf(answerProbe)
  for (const identity of identities) {
    const where = kinds[identity.kind]
    if (!found[identity.kind]) return `${where} does not exist: ${remedy}`
    const entry = entryOf(identity)
    if (!entry) return `${where} has no webhook ${identity.name}: ${remedy}`
    if (ofProbe && placeOf(entry.clientConfig) !== placeOf(ofProbe.clientConfig))
      return `webhook ${identity.name} in ${where} is called elsewhere than ${answerProbe.name}: ${remedy}`
  }
  return undefined
}

/** Where and with which trust the API server calls a webhook. The path differs from webhook to webhook. */
function placeOf({ service, url, caBundle }: ClientConfig): string {
  const { namespace, name, port = 443 } = service ?? {}
  return JSON.stringify([namespace, name, service && port, URL.parse(url ?? '')?.origin, caBundle])
}

export type ProbeResult = { outcome: 'answered' } | { outcome: 'missed' | 'unknown'; reason: string }

/** What a probe says that the API server returned, or refused. */
export function probeResult(returned: KubeObject | KubeError): ProbeResult {
  if (!(returned instanceof KubeError)) {
    if (isAnswered(returned)) return { outcome: 'answered' }
    return { outcome: 'missed', reason: `the API server does not call ${answerProbe.name}: ${remedy}` }
  }
  const { message } = returned
  const isMissed = message.includes('failed calling webhook') && message.includes(answerProbe.name)
  return isMissed
    ? { outcome: 'missed', reason: `the API server does not reach the webhooks: ${failureOf(message)}` }
    : { outcome: 'unknown', reason: `the API server refused the probe: ${message}` }
}

/** Why the API server's call failed, without the URL: its path is a secret. */
function failureOf(message: string): string {
  const [, failure = message] = message.split('failed to call webhook: ')
  return failure.replace(/\w+ "https?:[^"]*": /, '').replace(/https?:\S+/g, 'the webhook')
}
