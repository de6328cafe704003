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
import { type Lifetimes, type Pace, paceOf, usualLifetimes } from './lifetimes.ts'
import { type Publication, publication } from './publication.ts'
import { unusableReason } from './renewal.ts'
import { servingLeaf, type ServingLeaf } from './serving-leaf.ts'

const commonName = 'eip-admission CA'
const subject = `CN=${commonName}`
const loopback = ['localhost', '127.0.0.1', '::1']

export type SelfSignedOptions = {
  client: KubeClient
  log: Log
  /** Where the authority is kept; nothing else may write this Secret. */
  secret: SecretName
  configurations: { mutating: string; validating: string }
  /** Names for the certificate beyond those that the configurations ask for. */
  hosts?: string[]
  /** Whether this replica rotates the authority. Where no replica leads each may: the Secret decides between them. */
  mayRotate?: () => boolean
  lifetimes?: Lifetimes
  clock?: Clock
}

/** Certificates from an authority of our own, which is kept in a Secret and made known through `caBundle`. */
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
  readonly #publication: Publication
  readonly #leaf: ServingLeaf
  readonly #listeners: (() => void)[] = []
  #hosts: string[] = []
  #targets: Target[] = []
  #trusted = ''
  /** What this replica signs with: the Secret's signing authority, as soon as the API server trusts that one. */
  #signer: KeyPair | undefined
  #problem = 'nothing has been read so far'

  constructor({ client, log, secret, configurations, ...options }: SelfSignedOptions) {
    this.#log = log
    this.#clock = options.clock ?? systemClock
    this.#mayRotate = options.mayRotate ?? (() => true)
    this.#ownHosts = [...loopback, ...(options.hosts ?? [])]
    this.#secret = authoritySecret({ client, log, at: secret, commonName })
    this.#injector = injector({ client, log, names: configurations })
    this.#lifetimes = options.lifetimes ?? usualLifetimes
    this.#pace = paceOf(this.#lifetimes)
    this.#publication = publication(this.#pace.overlapMs)
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
    const patience = { firstMs: Math.min(500, checkMs), maxMs: overlapMs }
    let failures = 0
    while (!signal.aborted) {
      failures = (await this.#succeeds(signal)) ? 0 : failures + 1
      await this.#clock.sleep(failures > 0 ? backoffMs(failures, patience) : checkMs, signal)
    }
  }

  async #succeeds(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#check(signal)
      return true
    } catch (error) {
      if (signal.aborted) return false
      this.#problem = error instanceof Error ? error.message : String(error)
      if (isConflict(error)) this.#log.debug({ error: this.#problem }, 'another replica was first')
      else this.#log.warn({ error: this.#problem }, 'certificates could not be checked, what is served stays')
      return false
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    try {
      await this.#learn(signal)
    } finally {
      // Also when the API server cannot be asked: it will call us with what it knew.
      await this.#renewLeaf()
    }
    const now = this.#now()
    this.#targets = await this.#injector.inject(this.#targets, { trusted: this.#trusted, subject, now }, signal)
    this.#publication.observe(bundlesOf(this.#targets), now)
  }

  /**
   * The configurations come first, then the Secret. A certificate that a caBundle held then is in the Secret we read, and
   * a caBundle that was written since makes ours a conflict: no replica drops what another has just published.
   */
  async #learn(signal: AbortSignal): Promise<void> {
    const targets = await this.#injector.look(signal)
    const now = this.#now()
    this.#publication.observe(bundlesOf(targets), now)
    const settled = (cert: string) => this.#publication.settled(cert, now)
    const strays = mergeBundles([authoritiesIn(targets, subject), this.#signer?.cert ?? ''], now)
    const view = { now, lifetimes: this.#lifetimes, mayRotate: this.#mayRotate(), settled, strays }
    const authorities = await this.#secret.advance(view, signal)
    this.#targets = targets
    this.#hosts = [...new Set([...this.#ownHosts, ...verifiedHosts(targets)])]
    this.#adopt(authorities, settled)
  }

  #adopt({ signing, trusted }: Authorities, settled: (cert: string) => boolean): void {
    const now = this.#now()
    const current = this.#signer
    const keep = current && unusableReason(current, now) === undefined && !settled(signing.cert)
    this.#signer = keep ? current : signing
    this.#trusted = mergeBundles([trusted, this.#signer.cert], now)
  }

  async #renewLeaf(): Promise<void> {
    const now = this.#now()
    const authority = this.#signer
    if (!authority || unusableReason(authority, now) !== undefined) return
    const renewed = await this.#leaf.renew({ authority, hosts: this.#hosts, now })
    if (renewed) for (const listener of this.#listeners) listener()
  }

  /** The time of day, asked at every check: a machine that slept counts no time of its own. */
  #now(): number {
    return this.#clock.date().getTime()
  }
}
