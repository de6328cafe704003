import type { KubeClient } from '../kube/client.ts'
import type { Log } from '../kube/log.ts'
import type { ClientConfig, WebhookConfiguration } from '../kube/objects.ts'
import { mutatingWebhookConfigurations, type Resource, validatingWebhookConfigurations } from '../kube/resource.ts'
import { hasCertificates, certificatesIn, fromCaBundle, mergeBundles, isSameBundle, toCaBundle } from './bundle.ts'

const fieldManager = 'eip-admission-certs'

/** A webhook configuration whose caBundles we keep current, and its stored object. */
export type Target = {
  resource: Resource<WebhookConfiguration>
  name: string
  stored: WebhookConfiguration | undefined
}

/** The authorities to trust, and the subject that distinguishes ours from others. */
export type Trust = { trusted: string; subject: string }

export type Injector = {
  /** Reads both configurations. */
  look(signal: AbortSignal): Promise<Target[]>
  /** Writes every outdated caBundle, and returns the resulting configurations. */
  inject(targets: Target[], trust: Trust & { now: number }, signal: AbortSignal): Promise<Target[]>
}

/** Writes only `caBundle`, into the webhooks of two configurations that an installer creates. */
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
  let reportedAbsent: string[] = []
  return {
    async look(signal) {
      const targets = await Promise.all(
        places.map(async (at) => ({ ...at, stored: await client.get(at.resource, { name: at.name }, { signal }) })),
      )
      const absent = targets.filter(({ stored }) => !stored).map(({ resource, name }) => `${resource.kind} ${name}`)
      for (const configuration of absent.filter((name) => !reportedAbsent.includes(name)))
        log.warn({ configuration }, 'does not exist: no caBundle can be written')
      reportedAbsent = absent
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
 * The JSON Patch for the outdated caBundles of a configuration; empty if there are none. It contains the
 * resourceVersion, so it fails if the configuration has changed meanwhile. That makes it safe to address webhooks by
 * index. Server-side apply would also own the entries of the list. If an installer then applied a configuration without
 * a webhook, its entry would stay with only our field, which the API server refuses.
 */
export function bundlePatch(stored: WebhookConfiguration | undefined, trust: Trust & { now: number }): object[] {
  const changes = (stored?.webhooks ?? []).flatMap(({ clientConfig }, index) => {
    const present = fromCaBundle(clientConfig.caBundle)
    // Other programs' authorities stay until they expire. Our own stay only as long as we trust them.
    const foreign = certificatesIn(present).filter((certificate) => certificate.subject !== trust.subject)
    const bundle = mergeBundles([trust.trusted, ...foreign.map(String)], trust.now)
    if (isSameBundle(present, bundle)) return []
    return [{ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: toCaBundle(bundle) }]
  })
  if (changes.length === 0) return []
  return [{ op: 'replace', path: '/metadata/resourceVersion', value: stored?.metadata.resourceVersion }, ...changes]
}

/** The caBundles (PEM) of all webhooks of these configurations. */
export function bundlesOf(targets: Target[]): string[] {
  return clientConfigs(targets).map(({ caBundle }) => fromCaBundle(caBundle))
}

/** The certificates (PEM) in the caBundles that have the subject of our authorities. */
export function authoritiesIn(targets: Target[], subject: string): string {
  return bundlesOf(targets)
    .flatMap(certificatesIn)
    .filter((certificate) => certificate.subject === subject)
    .join('')
}

/** The names that the API server verifies in our certificate, sorted and without duplicates. */
export function verifiedHosts(targets: Target[]): string[] {
  return [...new Set(clientConfigs(targets).flatMap(hostsOf))].sort()
}

function hostsOf({ service, url }: ClientConfig): string[] {
  if (service) {
    const host = `${service.name}.${service.namespace}.svc`
    return [host, `${host}.cluster.local`]
  }
  const parsed = URL.parse(url ?? '')
  // An IPv6 address has brackets in a URL, but not in a certificate.
  return parsed ? [parsed.hostname.replace(/^\[|\]$/g, '')] : []
}

/**
 * Why the API server would not trust a leaf of this authority; undefined if every caBundle contains it. If a person
 * deletes one configuration, the API server still calls us for the other, and needs a ready replica.
 */
export function distrustReason(targets: Target[], authority: string): string | undefined {
  for (const { resource, name, stored } of targets) {
    const lacking = stored?.webhooks?.find(
      ({ clientConfig }) => !hasCertificates(fromCaBundle(clientConfig.caBundle), authority),
    )
    if (lacking)
      return `the caBundle of webhook ${lacking.name} in ${resource.kind} ${name} does not have the CA of eip-admission yet`
  }
  const [first] = targets
  return first && targets.every(({ stored }) => !stored)
    ? `${first.resource.kind} ${first.name} does not exist: install it`
    : undefined
}

function clientConfigs(targets: Target[]): ClientConfig[] {
  return targets.flatMap(({ stored }) => stored?.webhooks ?? []).map(({ clientConfig }) => clientConfig)
}
