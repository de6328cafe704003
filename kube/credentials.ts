import type { Agent } from 'node:http'
import type { AgentOptions } from 'node:https'

export type Tls = Pick<AgentOptions, 'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'rejectUnauthorized' | 'servername'>

/** Where the API server is and who we are, as of now. Holds secrets: it goes to the wire and nowhere else. */
export type Access = {
  url: string
  headers: Record<string, string>
  tls: Tls
  /** Carries connections where the way to the server leads through a proxy. */
  proxy?: Agent
  /** The namespace that we are in. */
  namespace?: string
}

export type Credentials = {
  current(): Promise<Access>
  /** What to use after the server refused `used` with 401. */
  renew(used: Access): Promise<Access>
}

/**
 * Credentials that are read again when they are older than `maxAgeMs`, and at a 401. A read that fails leaves the last
 * good ones in use: whether they still do is for the server to say.
 */
export function remembered(
  read: (refused: boolean) => Promise<Access>,
  { maxAgeMs, now = () => performance.now() }: { maxAgeMs: number; now?: (() => number) | undefined },
): Credentials {
  let known: { access: Access; readAtMs: number } | undefined
  let reading: Promise<Access> | undefined

  const readNow = async (refused: boolean) => {
    try {
      const access = await read(refused)
      known = { access, readAtMs: now() }
      return access
    } finally {
      reading = undefined
    }
  }
  const readOnce = (refused: boolean) => (reading ??= readNow(refused))

  return {
    async current() {
      if (known === undefined) return readOnce(false)
      if (now() - known.readAtMs < maxAgeMs) return known.access
      const { access } = known
      return readOnce(false).catch(() => access)
    },
    async renew(used) {
      if (known !== undefined && known.access !== used) return known.access
      return readOnce(true)
    },
  }
}
