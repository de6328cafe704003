import type { KubeClient } from '../kube/client.ts'
import type { Log } from '../kube/log.ts'
import type { ClientConfig, WebhookConfiguration } from '../kube/objects.ts'
import { mutatingWebhookConfigurations, type Resource, validatingWebhookConfigurations } from '../kube/resource.ts'
import { bundleHolds, certificatesIn, fromCaBundle, mergeBundles, sameBundle, toCaBundle } from './bundle.ts'

const fieldManager = 'eip-admission-certs'

/** A webhook configuration that we look after: where it should be, and what is there. */
export type Target = {
  resource: Resource<WebhookConfiguration>
  name: string
  stored: WebhookConfiguration | undefined
}

/** What we trust, and the subject by which our authorities are told from other people's. */
export type Trust = { trusted: string; subject: string }

export type Injector = {
  look(signal: AbortSignal): Promise<Target[]>
  /** Brings every caBundle up to date and answers with the configurations as they are then. */
  inject(targets: Target[], trust: Trust & { now: number }, signal: AbortSignal): Promise<Target[]>
}

/** Writes `caBundle`, and nothing else, into the webhooks of two configurations that others create. */
export function injector(deps: {
  client: KubeClient
  log: Log
  names: { mutating: string; validating: string }
}): Injector {
  const { client, log, names } = deps
  const places = [
    { resource: mutatingWebhookConfigurations, name: names.mutating },
    { resource: validatingWebhookConfigurations, name: names.validating },
  ]
  let saidAbsent: string[] = []
  return {
    async look(signal) {
      const targets = await Promise.all(
        places.map(async (at) => ({ ...at, stored: await client.get(at.resource, { name: at.name }, { signal }) })),
      )
      const absent = targets.filter(({ stored }) => !stored).map(({ resource, name }) => `${resource.kind} ${name}`)
      const news = absent.filter((configuration) => !saidAbsent.includes(configuration))
      for (const configuration of news) log.warn({ configuration }, 'does not exist: nothing to write a caBundle into')
      saidAbsent = absent
      return targets
    },
    async inject(targets, trust, signal) {
      const after: Target[] = []
      for (const target of targets) {
        const operations = bundlePatch(target.stored, trust)
        after.push(operations.length > 0 ? await write(deps, { target, operations }, signal) : target)
      }
      return after
    },
  }
}

async function write(
  { client, log }: { client: KubeClient; log: Log },
  { target, operations }: { target: Target; operations: object[] },
  signal: AbortSignal,
): Promise<Target> {
  const { resource, name } = target
  const stored = await client.patch(resource, { name, patch: { json: operations } }, { signal, fieldManager })
  log.info({ configuration: `${resource.kind} ${name}` }, 'caBundle written')
  return { ...target, stored }
}

/**
 * The JSON Patch that brings the caBundles of a configuration up to date; empty when they are. Its resourceVersion makes
 * it fail on any other state than the one looked at, so webhooks can be named by their place. Not server-side apply:
 * that owns the list's entries as well as their caBundle, and an installer who applies a configuration without one of
 * its webhooks is then refused, because the entry stays behind with our field alone.
 */
export function bundlePatch(stored: WebhookConfiguration | undefined, trust: Trust & { now: number }): object[] {
  const changes = (stored?.webhooks ?? []).flatMap(({ clientConfig }, place) => {
    const present = fromCaBundle(clientConfig.caBundle)
    const bundle = wantedBundle(present, trust)
    if (sameBundle(present, bundle)) return []
    return [{ op: 'add', path: `/webhooks/${place}/clientConfig/caBundle`, value: toCaBundle(bundle) }]
  })
  if (changes.length === 0) return []
  return [{ op: 'replace', path: '/metadata/resourceVersion', value: stored?.metadata.resourceVersion }, ...changes]
}

/** Other people's authorities stay until they expire; of ours only those that are still trusted. */
function wantedBundle(present: string, { trusted, subject, now }: Trust & { now: number }): string {
  const foreign = certificatesIn(present).filter((certificate) => certificate.subject !== subject)
  return mergeBundles([trusted, ...foreign.map(String)], now)
}

/** The caBundles (PEM) of all webhooks of these configurations. */
export function bundlesOf(targets: Target[]): string[] {
  return clientConfigs(targets).map(({ caBundle }) => fromCaBundle(caBundle))
}

/** The certificates (PEM) in the caBundles that carry the name of our authorities. */
export function authoritiesIn(targets: Target[], subject: string): string {
  return bundlesOf(targets)
    .flatMap(certificatesIn)
    .filter((certificate) => certificate.subject === subject)
    .join('')
}

/** The names by which the API server will verify us: sorted, none twice. */
export function verifiedHosts(targets: Target[]): string[] {
  return [...new Set(clientConfigs(targets).flatMap(hostsOf))].sort()
}

function hostsOf({ service, url }: ClientConfig): string[] {
  if (service) {
    const host = `${service.name}.${service.namespace}.svc`
    return [host, `${host}.cluster.local`]
  }
  const parsed = URL.parse(url ?? '')
  // An IPv6 address stands in brackets in a URL, not in a certificate.
  return parsed ? [parsed.hostname.replace(/^\[|\]$/g, '')] : []
}

/** Why the API server would not trust a certificate of this authority; undefined when every webhook holds it. */
export function distrustReason(targets: Target[], authority: string): string | undefined {
  for (const { resource, name, stored } of targets) {
    if (!stored) return `${resource.kind} ${name} does not exist: install it`
    const lacking = stored.webhooks?.find(
      ({ clientConfig }) => !bundleHolds(fromCaBundle(clientConfig.caBundle), authority),
    )
    if (lacking)
      return `the caBundle of webhook ${lacking.name} in ${resource.kind} ${name} does not hold our authority yet`
  }
  return undefined
}

function clientConfigs(targets: Target[]): ClientConfig[] {
  return targets.flatMap(({ stored }) => stored?.webhooks ?? []).map(({ clientConfig }) => clientConfig)
}
