import { X509Certificate } from 'node:crypto'
import type { KubeClient } from '../kube/client.ts'
import { isAlreadyExists, isConflict } from '../kube/errors.ts'
import type { Log } from '../kube/log.ts'
import type { Secret } from '../kube/objects.ts'
import { secrets } from '../kube/resource.ts'
import {
  type Authorities,
  foreignReason,
  planAuthorities,
  type RotationFacts,
  type AuthorityStep,
  carryOut,
} from './authorities.ts'
import { mergeBundles } from './bundle.ts'
import { unusableReason } from './renewal.ts'
import type { Annotation } from '../lib/annotation.ts'

const signingSince = 'eip-admission.dev/signing-since'
const maxAttempts = 5

export type SecretName = { namespace: string; name: string }

type Deps = { client: KubeClient; log: Log; at: SecretName; commonName: string }

/** The Secret with the authorities. Every replica reads it, and any replica may write the next step. */
export type AuthoritySecret = {
  /** Reads the authorities and executes the next step if one is due. If several replicas write, the first write wins. */
  advance(facts: RotationFacts & { alsoTrusted: string }, signal: AbortSignal): Promise<Authorities>
}

/** The authorities of an installation, stored in the Secret `at`. */
export function authoritySecret(deps: Deps): AuthoritySecret {
  return {
    async advance(facts, signal) {
      for (let left = maxAttempts; left > 0; left--) {
        const stored = await deps.client.get(secrets, deps.at, { signal })
        const seen = readAuthorities(stored, facts.now)
        rejectForeign(seen, { now: facts.now, at: deps.at })
        const step = planAuthorities(seen, facts)
        if (!step) return seen
        const after = await carryOut(step, seen, { ...facts, commonName: deps.commonName })
        if (await write(deps, { stored, after }, signal)) {
          report(deps, step, after)
          return after
        }
      }
      throw new Error(
        `Secret ${deps.at.namespace}/${deps.at.name} changed during ${maxAttempts} writes in a row: find out which other program writes it`,
      )
    },
  }
}

/** Reads the authorities, damaged or not. `planAuthorities` decides what to do about damage. */
function readAuthorities(stored: Secret | undefined, now: number): Authorities {
  const text = (key: string) => Buffer.from(stored?.data?.[key] ?? '', 'base64').toString('utf8')
  const signing = { cert: text('tls.crt'), key: text('tls.key') }
  const next = { cert: text('next.crt'), key: text('next.key') }
  return {
    signing,
    next: next.cert === '' ? undefined : next,
    trusted: mergeBundles([text('ca.crt'), signing.cert, next.cert], now),
    // Without the annotation we assume now, so an earlier authority stays trusted longer, but not beyond its expiry.
    signingSinceMs: Date.parse(stored?.metadata.annotations?.[signingSince] ?? '') || now,
  }
}

/** The Secret with these authorities. All other fields of the stored Secret are kept. */
function formatAuthorities(authorities: Authorities, at: SecretName, stored?: Secret): Secret {
  const { 'next.crt': _cert, 'next.key': _key, ...kept } = stored?.data ?? {}
  const { signing, next, trusted } = authorities
  const data = { 'tls.crt': signing.cert, 'tls.key': signing.key, 'ca.crt': trusted }
  const texts = next ? { ...data, 'next.crt': next.cert, 'next.key': next.key } : data
  const encoded = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')])
  const annotations = { [signingSince]: new Date(authorities.signingSinceMs).toISOString() }
  return {
    ...stored,
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...stored?.metadata, ...at, annotations: { ...stored?.metadata.annotations, ...annotations } },
    // The type of a Secret is immutable: an Opaque one stays Opaque.
    type: stored?.type ?? 'kubernetes.io/tls',
    data: { ...kept, ...Object.fromEntries(encoded) },
  }
}

/** Throws if the Secret contains a valid pair of another program, because our repair would destroy it. */
function rejectForeign(seen: Authorities, { now, at }: { now: number; at: SecretName }): void {
  if (unusableReason(seen.signing, now) !== undefined) return
  const reason = foreignReason(seen.signing)
  if (reason === undefined) return
  throw new Error(
    `Secret ${at.namespace}/${at.name} holds ${reason}. It seems to belong to another program: ` +
      'name a Secret that nothing else writes, or delete this one',
  )
}

/** Writes the authorities; false if another replica wrote first. */
async function write(
  { client, at }: Deps,
  { stored, after }: { stored: Secret | undefined; after: Authorities },
  signal: AbortSignal,
): Promise<boolean> {
  const secret = formatAuthorities(after, at, stored)
  try {
    await (stored ? client.replace(secrets, secret, { signal }) : client.create(secrets, secret, { signal }))
    return true
  } catch (error) {
    if (isAlreadyExists(error) || isConflict(error)) return false
    throw error
  }
}

function report({ log, at }: Deps, step: AuthorityStep, { signing, next }: Authorities): void {
  const certificate = new X509Certificate((next ?? signing).cert)
  const facts = { secret: `${at.namespace}/${at.name}`, step: step.do, reason: step.reason }
  log.info({ ...facts, serial: certificate.serialNumber, notAfter: certificate.validTo }, 'CA changed')
}

/** Our annotations of the Secret with our CA. */
export const secretAnnotations: readonly Annotation[] = [
  {
    name: signingSince,
    on: 'Secret',
    writers: ['eip-admission'],
    values: 'a time (RFC 3339)',
    sentence: 'When the current CA began to sign. Older CAs are trusted for a while after that.',
  },
]
