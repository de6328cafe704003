import { createPrivateKey, X509Certificate } from 'node:crypto'
import { issueAuthority } from './authority.ts'
import { mergeBundles, isSameBundle } from './bundle.ts'
import type { KeyPair } from './cert-source.ts'
import { type Lifetimes, paceOf } from './lifetimes.ts'
import { renewalReason, unusableReason } from './renewal.ts'

/** The CAs of an installation, shared by its replicas. */
export type Authorities = {
  /** The authority that signs the leaves. */
  signing: KeyPair
  /** The authority that will sign once the API server trusts it. */
  next: KeyPair | undefined
  /** All authorities to trust: signing, next, and those whose leaves may still be served. PEM. */
  trusted: string
  signingSinceMs: number
}

/** A change of the authorities, and its reason. Each step is complete, so any replica can continue with the next one. */
export type AuthorityStep =
  | { do: 'make'; reason: string }
  | { do: 'publish'; reason: string }
  | { do: 'promote'; reason: string; next: KeyPair }
  | { do: 'retire'; reason: string }

/** The facts on which a replica bases its plan. */
export type RotationFacts = {
  now: number
  lifetimes: Lifetimes
  mayRotate: boolean
  /** Whether the API server trusts a certificate now. */
  isTrusted(cert: string): boolean
}

/** Plans the next step, if one is due. Any replica replaces an unusable authority; only the leader rotates a usable one. */
export function planAuthorities(authorities: Authorities, facts: RotationFacts): AuthorityStep | undefined {
  const { signing, next } = authorities
  const nextIsUsable = next !== undefined && unusableReason(next, facts.now) === undefined
  const unusable = unusableReason(signing, facts.now)
  if (unusable !== undefined) {
    return nextIsUsable ? { do: 'promote', reason: unusable, next } : { do: 'make', reason: unusable }
  }
  if (!facts.mayRotate) return undefined
  if (nextIsUsable) {
    return facts.isTrusted(next.cert) ? { do: 'promote', reason: 'every caBundle has it', next } : undefined
  }
  const ageing = renewalReason(signing, facts.now)
  if (ageing !== undefined) return { do: 'publish', reason: ageing }
  const { retireAfterMs } = paceOf(facts.lifetimes)
  if (facts.now < authorities.signingSinceMs + retireAfterMs || isSameBundle(authorities.trusted, signing.cert)) {
    return undefined
  }
  return { do: 'retire', reason: 'no certificate from an earlier CA is in use' }
}

/** Executes a step. `alsoTrusted` are certificates (PEM) that stay trusted when a new authority is made. */
export async function carryOut(
  step: AuthorityStep,
  authorities: Authorities,
  {
    now,
    lifetimes,
    commonName,
    alsoTrusted,
  }: Pick<RotationFacts, 'now' | 'lifetimes'> & { commonName: string; alsoTrusted: string },
): Promise<Authorities> {
  const issue = () => issueAuthority({ commonName, now, lifetimeMs: lifetimes.authorityMs })
  switch (step.do) {
    case 'make': {
      const signing = await issue()
      const trusted = mergeBundles([signing.cert, authorities.trusted, alsoTrusted], now)
      return { signing, next: undefined, trusted, signingSinceMs: now }
    }
    case 'publish': {
      const next = await issue()
      return { ...authorities, next, trusted: mergeBundles([authorities.trusted, next.cert], now) }
    }
    case 'promote':
      return { ...authorities, signing: step.next, next: undefined, signingSinceMs: now }
    case 'retire':
      return { ...authorities, next: undefined, trusted: authorities.signing.cert }
  }
}

/** Why a valid pair cannot be one of our authorities, but belongs to another program; undefined if it can. */
export function foreignReason(pair: KeyPair): string | undefined {
  if (!new X509Certificate(pair.cert).ca) return 'a certificate that is not a CA'
  const type = createPrivateKey(pair.key).asymmetricKeyType
  return type === 'rsa' ? undefined : `a CA with a key of type ${type}, and eip-admission needs rsa`
}
