import { X509Certificate } from 'node:crypto'
import type { Log } from '../kube/log.ts'
import { type Keys, issueLeaf, newKeys } from './authority.ts'
import type { KeyPair } from './cert-source.ts'
import { renewalReason } from './renewal.ts'

/** The serving certificate of this replica. Its key is generated here and never leaves memory. */
export type ServingLeaf = {
  current(): KeyPair | undefined
  notAfterMs(): number | undefined
  /** Issues a new certificate if the authority, the hosts or the age require it. Returns whether it did. */
  renewIfNeeded(wanted: { authority: KeyPair; hosts: string[]; now: number }): Promise<boolean>
}

/** A serving certificate. The first call of `renewIfNeeded` issues it. */
export function servingLeaf({ log, lifetimeMs }: { log: Log; lifetimeMs: number }): ServingLeaf {
  let leaf: KeyPair | undefined
  // We start now: it takes as long as all requests of a start to the API server, and does not block the event loop.
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
