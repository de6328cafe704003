import type { Agent } from 'node:http'
import type { AgentOptions } from 'node:https'

export type Tls = Pick<AgentOptions, 'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'rejectUnauthorized' | 'servername'>

/** The API server's address and our identity, as of now. It contains secrets, so only requests may include it. */
export type Access = {
  url: string
  headers: Record<string, string>
  tls: Tls
  /** The agent that connects through a proxy, if the server is behind one. */
  proxy?: Agent
  /** The namespace that we run in. */
  namespace?: string
}

export type Credentials = {
  current(): Promise<Access>
  /** Credentials to use after the server answered `used` with 401. */
  renew(used: Access): Promise<Access>
}

/**
 * Credentials that are read again after `maxAgeMs`, and after a 401. After a failed read the last good ones stay in
 * use: the server decides whether they are still valid.
 */
export function cachedCredentials(
  read: (isRefused: boolean) => Promise<Access>,
  { maxAgeMs, now = () => performance.now() }: { maxAgeMs: number; now?: (() => number) | undefined },
): Credentials {
  let cached: { access: Access; readAtMs: number } | undefined
  let reading: Promise<Access> | undefined

  const readNow = async (isRefused: boolean) => {
    try {
      const access = await read(isRefused)
      cached = { access, readAtMs: now() }
      return access
    } finally {
      reading = undefined
    }
  }
  const readOnce = (isRefused: boolean) => (reading ??= readNow(isRefused))

  return {
    async current() {
      if (cached === undefined) return readOnce(false)
      if (now() - cached.readAtMs < maxAgeMs) return cached.access
      const { access } = cached
      return readOnce(false).catch(() => access)
    },
    async renew(used) {
      if (cached !== undefined && cached.access !== used) return cached.access
      return readOnce(true)
    },
  }
}
