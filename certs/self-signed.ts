import type { KubeClient } from '../kube/client.ts'
import { type Clock, systemClock } from '../kube/clock.ts'
import { repeat, backoffMs } from '../lib/repeat.ts'
import { isConflict } from '../kube/errors.ts'
import type { Log } from '../kube/log.ts'
import type { Authorities } from './authorities.ts'
import { type AuthoritySecret, authoritySecret, type SecretName } from './authority-secret.ts'
import { fingerprints, mergeBundles } from './bundle.ts'
import type { CertSource, KeyPair } from './cert-source.ts'
import {
  authoritiesIn,
  bundlesOf,
  distrustReason,
  injector,
  type Injector,
  type Target,
  verifiedHosts,
} from './inject.ts'
import { defaultLifetimes, type Lifetimes, type Pace, paceOf } from './lifetimes.ts'
import { renewalReason, unusableReason } from './renewal.ts'
import { X509Certificate } from 'node:crypto'
import { issueLeaf, type Keys, newKeys } from './authority.ts'

const commonName = 'eip-admission CA'
const subject = `CN=${commonName}`
const loopback = ['localhost', '127.0.0.1', '::1']

export type SelfSignedOptions = {
  client: KubeClient
  log: Log
  /** The Secret with the authority. No other program may write it. */
  secret: SecretName
  configurations: { mutating: string; validating: string }
  /** Whether this replica rotates the authority. Without a leader, every replica may: the first write to the Secret wins. */
  mayRotate?: () => boolean
  lifetimes?: Lifetimes
  clock?: Clock
}

/** Certificates from our own CA, which is stored in a Secret and published in each `caBundle`. */
export function selfSigned(options: SelfSignedOptions): CertSource {
  return new SelfSigned(options)
}

class SelfSigned implements CertSource {
  readonly #log: Log
  readonly #clock: Clock
  readonly #mayRotate: () => boolean
  readonly #lifetimes: Lifetimes
  readonly #pace: Pace
  readonly #secret: AuthoritySecret
  readonly #injector: Injector
  readonly #trustTracker: TrustTracker
  readonly #leaf: ServingLeaf
  readonly #listeners: (() => void)[] = []
  #hosts: string[] = []
  #targets: Target[] = []
  #trusted = ''
  /** The authority with which this replica signs: the signing one of the Secret, once the API server trusts it. */
  #signer: KeyPair | undefined
  #problem = 'the Secret and the webhook configurations have not been read yet'

  constructor({ client, log, secret, configurations, ...options }: SelfSignedOptions) {
    this.#log = log
    this.#clock = options.clock ?? systemClock
    this.#mayRotate = options.mayRotate ?? (() => true)
    this.#secret = authoritySecret({ client, log, at: secret, commonName })
    this.#injector = injector({ client, log, names: configurations })
    this.#lifetimes = options.lifetimes ?? defaultLifetimes
    this.#pace = paceOf(this.#lifetimes)
    this.#trustTracker = trustTracker(this.#pace.overlapMs)
    this.#leaf = servingLeaf({ log, lifetimeMs: this.#lifetimes.leafMs })
  }

  current(): KeyPair | undefined {
    return this.#leaf.current()
  }

  caBundle(): string {
    return this.#trusted
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  notAfterMs(): number | undefined {
    return this.#leaf.notAfterMs()
  }

  notReady(): string | undefined {
    const leaf = this.#leaf.current()
    if (!leaf || !this.#signer) return `there is no serving certificate yet: ${this.#problem}`
    const unusable = unusableReason(leaf, this.#now())
    if (unusable !== undefined) return `the serving certificate cannot be used: ${unusable}`
    return distrustReason(this.#targets, this.#signer.cert)
  }

  async start(signal: AbortSignal): Promise<void> {
    const firstLeaf = Promise.withResolvers<void>()
    this.onChange(firstLeaf.resolve)
    void this.#run(signal).finally(firstLeaf.resolve)
    await firstLeaf.promise
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { checkMs, overlapMs } = this.#pace
    const backoff = { firstMs: Math.min(500, checkMs), maxMs: overlapMs }
    let failures = 0
    const check = async () => {
      failures = (await this.#tryCheck(signal)) ? 0 : failures + 1
      return failures > 0 ? backoffMs(failures, backoff) : undefined
    }
    await repeat(check, { everyMs: checkMs, signal, clock: this.#clock })
  }

  async #tryCheck(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#check(signal)
      return true
    } catch (error) {
      if (signal.aborted) return false
      this.#problem = error instanceof Error ? error.message : String(error)
      if (isConflict(error)) this.#log.debug({ error: this.#problem }, 'another replica wrote first')
      else
        this.#log.warn({ error: this.#problem }, 'certificates could not be checked; the serving certificate is kept')
      return false
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    try {
      await this.#readAndAdvance(signal)
    } finally {
      // This also runs while the API server is unreachable: it will call us with its previous caBundle.
      await this.#renewLeaf()
    }
    const now = this.#now()
    this.#targets = await this.#injector.inject(this.#targets, { trusted: this.#trusted, subject, now }, signal)
    this.#trustTracker.observe(bundlesOf(this.#targets), now)
  }

  /**
   * Reads the configurations before the Secret, so that every certificate in the caBundles is also in the Secret. If a
   * caBundle is written later, our write fails with a conflict. So no replica drops what another one has just
   * published.
   */
  async #readAndAdvance(signal: AbortSignal): Promise<void> {
    const targets = await this.#injector.look(signal)
    const now = this.#now()
    this.#trustTracker.observe(bundlesOf(targets), now)
    const isTrusted = (cert: string) => this.#trustTracker.isTrusted(cert, now)
    const alsoTrusted = mergeBundles([authoritiesIn(targets, subject), this.#signer?.cert ?? ''], now)
    const facts = { now, lifetimes: this.#lifetimes, mayRotate: this.#mayRotate(), isTrusted, alsoTrusted }
    const authorities = await this.#secret.advance(facts, signal)
    this.#targets = targets
    this.#hosts = [...new Set([...loopback, ...verifiedHosts(targets)])]
    this.#setSigner(authorities, isTrusted)
  }

  #setSigner({ signing, trusted }: Authorities, isTrusted: (cert: string) => boolean): void {
    const now = this.#now()
    const current = this.#signer
    const keepsCurrent = current && unusableReason(current, now) === undefined && !isTrusted(signing.cert)
    this.#signer = keepsCurrent ? current : signing
    this.#trusted = mergeBundles([trusted, this.#signer.cert], now)
  }

  async #renewLeaf(): Promise<void> {
    const now = this.#now()
    const authority = this.#signer
    if (!authority || unusableReason(authority, now) !== undefined) return
    const renewed = await this.#leaf.renewIfNeeded({ authority, hosts: this.#hosts, now })
    if (renewed) for (const listener of this.#listeners) listener()
  }

  /** The date, because a monotonic clock stops while a machine is suspended. */
  #now(): number {
    return this.#clock.date().getTime()
  }
}

/** Tracks how long every caBundle has contained each certificate. */
type TrustTracker = {
  /** Records the current caBundles (PEM) of all webhooks. */
  observe(bundles: string[], now: number): void
  /** Whether every caBundle has contained a certificate for the whole overlap, or no webhook exists. */
  isTrusted(cert: string, now: number): boolean
}

/**
 * The API server learns of a new caBundle through its own watch, so a written caBundle is not trusted at once. We count the
 * overlap from our own reads: a replica that becomes leader during a rotation waits the whole overlap again, which is safe.
 */
function trustTracker(overlapMs: number): TrustTracker {
  let sinceMs = new Map<string, number>()
  let hasWebhooks = true
  return {
    observe(bundles, now) {
      hasWebhooks = bundles.length > 0
      const inAll = bundles
        .map(fingerprints)
        .reduce((common, next) => common.intersection(next), fingerprints(bundles[0] ?? ''))
      sinceMs = new Map([...inAll].map((fingerprint) => [fingerprint, sinceMs.get(fingerprint) ?? now]))
    },
    isTrusted(cert, now) {
      if (!hasWebhooks) return true
      return [...fingerprints(cert)].every((fingerprint) => now - (sinceMs.get(fingerprint) ?? now) >= overlapMs)
    },
  }
}

/** The serving certificate of this replica. Its key is generated here and never leaves memory. */
type ServingLeaf = {
  current(): KeyPair | undefined
  notAfterMs(): number | undefined
  /** Issues a new certificate if the authority, the hosts or its age require it. Returns whether it did. */
  renewIfNeeded(wanted: { authority: KeyPair; hosts: string[]; now: number }): Promise<boolean>
}

/** A serving certificate. The first call of `renewIfNeeded` issues it. */
function servingLeaf({ log, lifetimeMs }: { log: Log; lifetimeMs: number }): ServingLeaf {
  let leaf: KeyPair | undefined
  // Started now, because it takes as long as all API server requests of a start, and does not block the event loop.
  let keys: Promise<Keys> | undefined = newKeys()
  return {
    current: () => leaf,
    notAfterMs: () => leaf && new X509Certificate(leaf.cert).validToDate.getTime(),
    async renewIfNeeded({ authority, hosts, now }) {
      const reason = leaf ? renewalReason(leaf, now, { hosts, authority: authority.cert }) : 'there is none yet'
      if (reason === undefined) return false
      leaf = await issueLeaf({ authority, hosts, now, lifetimeMs, keys })
      keys = undefined
      const { serialNumber, validTo } = new X509Certificate(leaf.cert)
      log.info({ reason, hosts, serial: serialNumber, notAfter: validTo }, 'serving certificate issued')
      return true
    },
  }
}
