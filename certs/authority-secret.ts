import { X509Certificate } from 'node:crypto'
import type { KubeClient } from '../kube/client.ts'
import { isAlreadyExists, isConflict } from '../kube/errors.ts'
import type { Log } from '../kube/log.ts'
import type { Secret } from '../kube/objects.ts'
import { secrets } from '../kube/resource.ts'
import { type Authorities, foreignReason, planAuthorities, type Step, takeStep, type View } from './authorities.ts'
import { mergeBundles } from './bundle.ts'
import { unusableReason } from './renewal.ts'

export const signingSince = 'eip-admission.dev/signing-since'
const tries = 5

export type SecretName = { namespace: string; name: string }

type Deps = { client: KubeClient; log: Log; at: SecretName; commonName: string }

/** The authorities kept in a Secret that every replica reads and any replica may bring forward. */
export type AuthoritySecret = {
  /** Reads the authorities and takes the next step if one is due; the first replica to write a step decides it. */
  advance(view: View & { strays: string }, signal: AbortSignal): Promise<Authorities>
}

/** The authorities of an installation in the Secret `at`. */
export function authoritySecret(deps: Deps): AuthoritySecret {
  return {
    async advance(view, signal) {
      for (let left = tries; left > 0; left--) {
        const stored = await deps.client.get(secrets, deps.at, { signal })
        const seen = readAuthorities(stored, view.now)
        refuseForeign(seen, { ...view, at: deps.at })
        const step = planAuthorities(seen, view)
        if (!step) return seen
        const after = await takeStep(step, seen, { ...view, commonName: deps.commonName })
        if (await write(deps, { stored, after }, signal)) {
          report(deps, step, after)
          return after
        }
      }
      throw new Error(
        `Secret ${deps.at.namespace}/${deps.at.name} changed under ${tries} writes in a row: who writes it?`,
      )
    },
  }
}

/** Reads what is there, damaged or not; `planAuthorities` judges it. */
function readAuthorities(stored: Secret | undefined, now: number): Authorities {
  const text = (key: string) => Buffer.from(stored?.data?.[key] ?? '', 'base64').toString('utf8')
  const signing = { cert: text('tls.crt'), key: text('tls.key') }
  const next = { cert: text('next.crt'), key: text('next.key') }
  return {
    signing,
    next: next.cert === '' ? undefined : next,
    trusted: mergeBundles([text('ca.crt'), signing.cert, next.cert], now),
    // Unknown counts as just now: what may still be in use stays trusted, at the longest until it expires.
    signingSinceMs: Date.parse(stored?.metadata.annotations?.[signingSince] ?? '') || now,
  }
}

/** The Secret that carries these authorities; whatever else was in the stored one stays. */
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
    // The type of a Secret cannot be changed: one that was made as Opaque stays it.
    type: stored?.type ?? 'kubernetes.io/tls',
    data: { ...kept, ...Object.fromEntries(encoded) },
  }
}

/** A valid pair that is none of our authorities is somebody's property: healing it would destroy it. */
function refuseForeign(seen: Authorities, { now, at }: { now: number; at: SecretName }): void {
  if (unusableReason(seen.signing, now) !== undefined) return
  const what = foreignReason(seen.signing)
  if (what === undefined) return
  throw new Error(
    `Secret ${at.namespace}/${at.name} holds ${what}. It seems to belong to something else: ` +
      'name a Secret that nothing else writes, or delete this one',
  )
}

/** Whether the write was ours; another replica may have been first. */
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

function report({ log, at }: Deps, step: Step, { signing, next }: Authorities): void {
  const certificate = new X509Certificate((next ?? signing).cert)
  const facts = { secret: `${at.namespace}/${at.name}`, step: step.do, why: step.why }
  log.info(
    { ...facts, serial: certificate.serialNumber, notAfter: certificate.validTo },
    'certificate authority changed',
  )
}
