import { backoffMs } from '../lib/backoff.ts'
import type { KubeClient } from '../kube/client.ts'
import { type Clock, systemClock } from '../kube/clock.ts'
import { isConflict } from '../kube/errors.ts'
import type { Log } from '../kube/log.ts'
import type { Authorities } from './authorities.ts'
import { type AuthoritySecret, authoritySecret, type SecretName } from './authority-secret.ts'
import { mergeBundles } from './bundle.ts'
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
import { type Lifetimes, type Pace, paceOf, defaultLifetimes } from './lifetimes.ts'
import { type TrustTracker, trustTracker } from './trust-tracker.ts'
import { unusableReason } from './renewal.ts'
import { servingLeaf, type ServingLeaf } from './serving-leaf.ts'

const commonName = 'eip-admission CA'
const subject = `CN=${commonName}`
const loopback = ['localhost', '127.0.0.1', '::1']

export type SelfSignedOptions = {
  client: KubeClient
  log: Log
  /** The Secret with the authority. No other program may write it. */
  secret: SecretName
  configurations: { mutating: string; validating: string }
  /** Names for the certificate in addition to those in the configurations. */
  hosts?: string[]
  /** Whether this replica rotates the authority. Without a leader every replica may: the first write to the Secret counts. */
  mayRotate?: () => boolean
  lifetimes?: Lifetimes
  clock?: Clock
}

/** Certificates from our own authority, which a Secret keeps and each `caBundle` publishes. */
export function selfSigned(options: SelfSignedOptions): CertSource {
  return new SelfSigned(options)
}

class SelfSigned implements CertSource {
  readonly #log: Log
  readonly #clock: Clock
  readonly #mayRotate: () => boolean
  readonly #ownHosts: string[]
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
  /** The authority that this replica signs with: the signing one of the Secret, as soon as the API server trusts it. */
  #signer: KeyPair | undefined
  #problem = 'the Secret and the webhook configurations have not been read yet'

  constructor({ client, log, secret, configurations, ...options }: SelfSignedOptions) {
    this.#log = log
    this.#clock = options.clock ?? systemClock
    this.#mayRotate = options.mayRotate ?? (() => true)
    this.#ownHosts = [...loopback, ...(options.hosts ?? [])]
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
    while (!signal.aborted) {
      failures = (await this.#tryCheck(signal)) ? 0 : failures + 1
      await this.#clock.sleep(failures > 0 ? backoffMs(failures, backoff) : checkMs, signal)
    }
  }

  async #tryCheck(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#check(signal)
      return true
    } catch (error) {
      if (signal.aborted) return false
      this.#problem = error instanceof Error ? error.message : String(error)
      if (isConflict(error)) this.#log.debug({ error: this.#problem }, 'another replica was first')
      else this.#log.warn({ error: this.#problem }, 'certificates could not be checked, the serving certificate stays')
      return false
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    try {
      await this.#readAndAdvance(signal)
    } finally {
      // Also while the API server is unreachable: it will call us with the caBundle that it had.
      await this.#renewLeaf()
    }
    const now = this.#now()
    this.#targets = await this.#injector.inject(this.#targets, { trusted: this.#trusted, subject, now }, signal)
    this.#trustTracker.observe(bundlesOf(this.#targets), now)
  }

  /**
   * Reads the configurations first, then the Secret. Every certificate of a caBundle that we read is then in the Secret
   * too. If a caBundle is written later, our write ends in a conflict. So no replica drops what another one has just
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
    this.#hosts = [...new Set([...this.#ownHosts, ...verifiedHosts(targets)])]
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

  /** The date, not a monotonic time: that one stands still while a machine is suspended. */
  #now(): number {
    return this.#clock.date().getTime()
  }
}
