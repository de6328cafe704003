import type { Log } from '../../kube/log.ts'
import { processSettings } from '../../settings/process.ts'

export type Address = { host: string; port: number }

/** The use of a port, with its setting. */
const uses = {
  webhooks: { what: 'the webhooks', setting: processSettings.webhookSecurePort },
  health: { what: 'health and metrics', setting: processSettings.securePort },
}

export type PortUse = keyof typeof uses

/** Makes a server listen at the address. */
export type OpenPort = (use: PortUse, at: Address, listen: (at: Address) => Promise<unknown>) => Promise<void>

const allAddresses = '::'
const allIpv4Addresses = '0.0.0.0'

/** The errors of a host without IPv6. */
const withoutIpv6 = ['EAFNOSUPPORT', 'EADDRNOTAVAIL']

/** Opens ports. On a host without IPv6, `::` means all IPv4 addresses, which the log mentions once. */
export function portOpener(log: Log): OpenPort {
  let hasIpv6 = true
  const openPort: OpenPort = async (use, { host: wanted, port }, listen) => {
    const host = wanted === allAddresses && !hasIpv6 ? allIpv4Addresses : wanted
    try {
      await listen({ host, port })
    } catch (error) {
      if (host !== allAddresses || !withoutIpv6.includes(codeOf(error))) throw explained(error, use, { host, port })
      hasIpv6 = false
      log.info({ error: codeOf(error) }, 'this machine has no IPv6: listening only on its IPv4 addresses')
      await openPort(use, { host: wanted, port }, listen)
    }
  }
  return openPort
}

/** The same error, or a new one that says what to do. */
function explained(error: unknown, use: PortUse, { host, port }: Address): unknown {
  if (codeOf(error) !== 'EADDRINUSE') return error
  const { what, setting } = uses[use]
  const wrong = `${what} cannot be served on ${host}, port ${port}: another program has this port (EADDRINUSE)`
  return new Error(`${wrong}; stop that program, or give serve a free port with ${setting.flag}`, { cause: error })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
