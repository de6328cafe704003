import { X509Certificate } from 'node:crypto'
import type { Log } from '../kube/log.ts'
import { type Keys, issueLeaf, newKeys } from './authority.ts'
import type { KeyPair } from './cert-source.ts'
import { renewalReason } from './renewal.ts'

/** The certificate of this replica. Its key is made here and never leaves memory. */
export type ServingLeaf = {
  current(): KeyPair | undefined
  notAfterMs(): number | undefined
  /** Issues it anew where the authority, the hosts or its age say so; tells whether it did. */
  renew(wanted: { authority: KeyPair; hosts: string[]; now: number }): Promise<boolean>
}

/** A serving certificate that is issued when it is first asked for. */
export function servingLeaf({ log, lifetimeMs }: { log: Log; lifetimeMs: number }): ServingLeaf {
  let leaf: KeyPair | undefined
  // Begun now: it takes as long as all that a start asks of the API server, and not the event loop.
  let keys: Promise<Keys> | undefined = newKeys()
  return {
    current: () => leaf,
    notAfterMs: () => leaf && new X509Certificate(leaf.cert).validToDate.getTime(),
    async renew({ authority, hosts, now }) {
      const why = leaf ? renewalReason(leaf, now, { hosts, authority: authority.cert }) : 'there is none yet'
      if (why === undefined) return false
      leaf = await issueLeaf({ authority, hosts, now, lifetimeMs, keys })
      keys = undefined
      const { serialNumber, validTo } = new X509Certificate(leaf.cert)
      log.info({ why, hosts, serial: serialNumber, notAfter: validTo }, 'serving certificate issued')
      return true
    },
  }
}
