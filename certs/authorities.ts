import { createPrivateKey, X509Certificate } from 'node:crypto'
import { issueAuthority } from './authority.ts'
import { mergeBundles, sameBundle } from './bundle.ts'
import type { KeyPair } from './cert-source.ts'
import { type Lifetimes, paceOf } from './lifetimes.ts'
import { renewalReason, unusableReason } from './renewal.ts'

/** The certificate authorities of an installation, as its replicas share them. */
export type Authorities = {
  /** The one that leaves are signed with. */
  signing: KeyPair
  /** The one that takes over once the API server trusts it. */
  next: KeyPair | undefined
  /** Everything to trust: signing, next, and those whose leaves may still be served. PEM. */
  trusted: string
  signingSinceMs: number
}

/** One change of the authorities, and why; each is complete in itself, so that any replica can do the one after it. */
export type Step =
  | { do: 'make'; why: string }
  | { do: 'publish'; why: string }
  | { do: 'promote'; why: string; next: KeyPair }
  | { do: 'retire'; why: string }

/** What one replica knows when it plans. */
export type View = {
  now: number
  lifetimes: Lifetimes
  mayRotate: boolean
  /** Whether the API server has had the time to trust a certificate. */
  settled(cert: string): boolean
}

/** The next step from here, if there is one. Without a usable authority any replica acts; a rotation is the leader's. */
export function planAuthorities(authorities: Authorities, view: View): Step | undefined {
  const { signing, next } = authorities
  const nextIsUsable = next !== undefined && unusableReason(next, view.now) === undefined
  const broken = unusableReason(signing, view.now)
  if (broken !== undefined) {
    return nextIsUsable ? { do: 'promote', why: broken, next } : { do: 'make', why: broken }
  }
  if (!view.mayRotate) return undefined
  if (nextIsUsable) {
    return view.settled(next.cert) ? { do: 'promote', why: 'every caBundle holds it', next } : undefined
  }
  const ageing = renewalReason(signing, view.now)
  if (ageing !== undefined) return { do: 'publish', why: ageing }
  const { retireAfterMs } = paceOf(view.lifetimes)
  if (view.now < authorities.signingSinceMs + retireAfterMs || sameBundle(authorities.trusted, signing.cert)) {
    return undefined
  }
  return { do: 'retire', why: 'no leaf of an earlier authority is left' }
}

/** The authorities after a step. `strays` are certificates (PEM) that a new authority must not push out of the trust. */
export async function takeStep(
  step: Step,
  authorities: Authorities,
  { now, lifetimes, commonName, strays }: Pick<View, 'now' | 'lifetimes'> & { commonName: string; strays: string },
): Promise<Authorities> {
  const issue = () => issueAuthority({ commonName, now, lifetimeMs: lifetimes.authorityMs })
  switch (step.do) {
    case 'make': {
      const signing = await issue()
      const trusted = mergeBundles([signing.cert, authorities.trusted, strays], now)
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

/** Why a good pair is nothing that we can sign with: it is somebody else's. */
export function foreignReason(pair: KeyPair): string | undefined {
  if (!new X509Certificate(pair.cert).ca) return 'a certificate that is not a certificate authority'
  const type = createPrivateKey(pair.key).asymmetricKeyType
  return type === 'rsa' ? undefined : `a certificate authority with a key of type ${type}, where ours are rsa`
}
