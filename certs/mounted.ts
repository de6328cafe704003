import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { type Clock, systemClock } from '../kube/clock.ts'
import { repeatLater } from '../lib/repeat.ts'
import type { Log } from '../kube/log.ts'
import { issueAuthority, issueLeaf } from './authority.ts'
import type { CertSource, KeyPair } from './cert-source.ts'
import { unusableReason } from './renewal.ts'

/** Folders mounted from a Secret send no notification when they change. */
const checkMs = 2_000

/** The temporary certificate is not trusted, so it may live longer than any wait. */
const temporaryMs = 10 * 365 * 24 * 60 * 60 * 1000

/** The files of a Secret of type kubernetes.io/tls. */
const files = { cert: 'tls.crt', key: 'tls.key' }

export type MountedOptions = { folder: string; log: Log; clock?: Clock }

/**
 * The certificate in a folder that another program renews, such as a mounted Secret of cert-manager. An unusable pair
 * never replaces a usable one.
 */
export function mountedCertificate(options: MountedOptions): CertSource {
  return new MountedCertificate(options)
}

class MountedCertificate implements CertSource {
  readonly #folder: string
  readonly #log: Log
  readonly #clock: Clock
  readonly #listeners: (() => void)[] = []
  #pair: KeyPair | undefined
  #temporary: KeyPair | undefined
  #problem: string | undefined

  constructor({ folder, log, clock = systemClock }: MountedOptions) {
    this.#folder = folder
    this.#log = log
    this.#clock = clock
  }

  current(): KeyPair | undefined {
    return this.#pair ?? this.#temporary
  }

  /** The issuer of the certificate, or its injector, publishes the authority. */
  caBundle(): string {
    return ''
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  notAfterMs(): number | undefined {
    return this.#pair && new X509Certificate(this.#pair.cert).validToDate.getTime()
  }

  notReady(): string | undefined {
    if (!this.#pair) return `there is no serving certificate yet: ${this.#problem ?? 'the folder was not read yet'}`
    const unusable = unusableReason(this.#pair, this.#now())
    return unusable && `the serving certificate in ${this.#folder} cannot be used: ${unusable}`
  }

  /**
   * Without a certificate, it serves an untrusted temporary one and is not ready. The controllers must run first,
   * because cert-manager may wait for a node that they must prepare.
   */
  async start(signal: AbortSignal): Promise<void> {
    this.#check()
    if (!this.#pair) this.#temporary = await this.#makeTemporary()
    void repeatLater(() => this.#check(), { everyMs: checkMs, signal, clock: this.#clock })
  }

  #check(): void {
    const found = this.#read()
    if ('wrong' in found) return this.#report(found.wrong)
    this.#problem = undefined
    const { pair } = found
    if (pair.cert === this.#pair?.cert && pair.key === this.#pair.key) return
    this.#pair = pair
    const expires = new X509Certificate(pair.cert).validToDate.toISOString()
    this.#log.info({ folder: this.#folder, expires }, 'serving certificate read')
    for (const listener of this.#listeners) listener()
  }

  /** Both files, or why they are not usable now. */
  #read(): { pair: KeyPair } | { wrong: string } {
    try {
      const folder = currentFolder(this.#folder)
      const read = (name: string) => readFileSync(join(folder, name), 'utf8')
      const pair = { cert: read(files.cert), key: read(files.key) }
      const wrong = unusableReason(pair, this.#now())
      if (wrong !== undefined) return { wrong: `${files.cert} and ${files.key}: ${wrong}` }
      // OpenSSL also reads the rest of the chain, and refuses short keys. Then no server can be made of the pair.
      createSecureContext(pair)
      return { pair }
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
      return { wrong: `${files.cert} and ${files.key} cannot be read (${code})` }
    }
  }

  #report(wrong: string): void {
    if (wrong === this.#problem) return
    this.#problem = wrong
    const what = this.#pair ? 'the serving certificate is kept' : 'there is no serving certificate yet'
    this.#log.warn({ folder: this.#folder, wrong }, what)
  }

  async #makeTemporary(): Promise<KeyPair> {
    const life = { now: this.#now(), lifetimeMs: temporaryMs }
    const authority = await issueAuthority({ commonName: 'eip-admission, temporary', ...life })
    return issueLeaf({ authority, hosts: ['localhost'], ...life })
  }

  #now(): number {
    return this.#clock.date().getTime()
  }
}

/**
 * The current folder of the files. The kubelet changes all files of a Secret at once, by replacing the link `..data`.
 * Resolving that link once yields a certificate and a key of the same version.
 */
function currentFolder(folder: string): string {
  const link = join(folder, '..data')
  return existsSync(link) ? realpathSync(link) : folder
}
