import { type Pace, repeat } from '../lib/repeat.ts'
import type { KubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/errors.ts'
import type { Recorder } from '../telemetry/event-recorders.ts'
import type { Log } from '../kube/log.ts'
import type { KubeObject, ClientConfig, WebhookConfiguration } from '../kube/objects.ts'
import { configMaps, mutatingWebhookConfigurations, validatingWebhookConfigurations } from '../kube/resource.ts'
import { names } from '../settings/installed-names.ts'
import { answerProbe, webhookIdentities, type WebhookIdentity, allow, patch, type Webhook } from './webhook.ts'
import { fingerprints, fromCaBundle } from '../certs/bundle.ts'
import { doctorAdvice } from '../lib/remedy.ts'

export type WebhookProbeOptions = {
  client: Pick<KubeClient, 'get' | 'create'>
  namespace: string
  intervalMs: number
  events: Pick<Recorder, 'record'>
  /** Whether this replica writes the Events, so that only a single one does. */
  mayReport: () => boolean
  log: Log
  clock?: Pace['clock']
}

export type WebhookProbe = {
  /** Why the API server does not use our webhooks; undefined while it does, and before the second probe. */
  problem(): string | undefined
  /** Whether it uses them; undefined before the first answer. A single missed probe does not count. */
  isReached(): boolean | undefined
  /** Probes repeatedly until the signal aborts. */
  start(signal: AbortSignal): void
}

/** How soon a failed probe is repeated: after a start, parts of the API server may not know us yet. */
const repeatMs = 15_000

/**
 * Checks that the API server still calls our webhooks and uses their answers. With failurePolicy Ignore, a failure
 * would be silent: the API server logs it and stores Services without an address. The probe is a dry run of an object
 * that only our probe webhook reviews. So nothing is stored, and no further right is needed.
 */
export function webhookProbe(options: WebhookProbeOptions): WebhookProbe {
  const { intervalMs, log, clock } = options
  let last: ProbeResult['outcome'] | undefined
  let problem: string | undefined

  const judge = async (result: ProbeResult) => {
    if (result.outcome === 'unknown') return log.warn({ reason: result.reason }, 'the webhooks cannot be probed')
    if (result.outcome === 'answered') {
      if (problem !== undefined) await report(options, 'Normal', 'the API server calls the webhooks again')
      problem = undefined
    } else if (last === 'missed') {
      problem = missText(result)
      await report(options, 'Warning', `New Services get no address at admission, only later: ${problem}`)
    }
    last = result.outcome
  }
  const follow = async (signal: AbortSignal) => {
    await judge(await probeOnce(options, signal))
    const isFirst = last === 'missed' && problem === undefined
    return isFirst ? Math.min(repeatMs, intervalMs) : undefined
  }
  return {
    problem: () => problem,
    isReached: () => (last === undefined ? undefined : problem === undefined),
    start: (signal) => void repeat(follow, { everyMs: intervalMs, signal, ...(clock && { clock }) }),
  }
}

/** Probes once: reads the configurations, then sends a dry run, which stores nothing. */
export async function probeOnce(
  options: Pick<WebhookProbeOptions, 'client' | 'namespace'>,
  signal: AbortSignal,
): Promise<ProbeResult> {
  try {
    const found = await readConfigurations(options.client, signal)
    const reason = configurationProblem(found, webhookIdentities)
    if (reason !== undefined) return { outcome: 'missed', reason }
    const probed = options.client.create(configMaps, probeOf(options.namespace), { dryRun: true, signal })
    return probeResult(await probed.catch(kubeErrorOf))
  } catch (error) {
    return { outcome: 'unknown', reason: error instanceof KubeError ? error.message : String(error) }
  }
}

function kubeErrorOf(error: unknown): KubeError {
  if (error instanceof KubeError) return error
  throw error
}

/** Reads our webhook configurations. */
export async function readConfigurations(
  client: Pick<KubeClient, 'get'>,
  signal?: AbortSignal,
): Promise<Configurations> {
  const options = signal && { signal }
  const [mutating, validating] = await Promise.all([
    client.get(mutatingWebhookConfigurations, { name: names.mutatingConfiguration }, options),
    client.get(validatingWebhookConfigurations, { name: names.validatingConfiguration }, options),
  ])
  return { mutating, validating }
}

function probeOf(namespace: string) {
  const metadata = { namespace, name: 'eip-admission-probe', labels: { [answerProbe.label]: 'true' } }
  return { apiVersion: 'v1' as const, kind: 'ConfigMap' as const, metadata }
}

/** Reports to the operator, on the configuration that does not work. */
async function report(
  { client, events, mayReport, log }: WebhookProbeOptions,
  type: 'Normal' | 'Warning',
  message: string,
): Promise<void> {
  if (type === 'Warning') log.error({ problem: message }, 'admission does not work')
  else log.info({}, message)
  const reason = type === 'Warning' ? 'AdmissionNotWorking' : 'AdmissionWorking'
  if (mayReport()) events.record(await readConfiguration(client), { type, reason, message })
}

/** `kubectl describe` finds an Event by the uid of its object. If the object cannot be read, the Event has no uid. */
async function readConfiguration(client: WebhookProbeOptions['client']): Promise<KubeObject> {
  const { apiVersion, kind } = mutatingWebhookConfigurations
  const name = names.mutatingConfiguration
  const stored = await client.get(mutatingWebhookConfigurations, { name }).catch(() => undefined)
  return stored ?? { apiVersion, kind, metadata: { name } }
}

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

/** The mark of our answer on a probe. Without it, the API server did not reach us or did not use our answer. */
export const probeAnnotation = 'eip-admission.dev/probe-answered-by'

/** Answers the objects with which we check that the API server still calls our webhooks. They are never stored. */
export function probe({ identity }: { identity: string }): Webhook {
  return {
    ...answerProbe,
    decide({ object }) {
      if (object?.metadata.labels?.[answerProbe.label] === undefined) return allow()
      const annotations = { ...object.metadata.annotations, [probeAnnotation]: identity }
      return patch([{ op: 'add', path: '/metadata/annotations', value: annotations }])
    },
  }
}

/** Whether a webhook has added its answer to a probe. */
function isAnswered({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[probeAnnotation] !== undefined
}
