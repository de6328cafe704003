import type { Exchange } from '../ports/cloud.ts'
import type { ProxyEnvironment } from '../http/send.ts'
import type { Vendor, CloudProvider, ControlPlaneOptions } from '../ports/cloud-provider.ts'
import type { Log } from '../../kube/log.ts'

/** The parts of the process that a provider needs. */
export type CloudTools = {
  userAgent: string
  proxy: ProxyEnvironment
  observe: (exchange: Exchange) => void
  log: Log
  signal: AbortSignal
  /** Whether this process reserves addresses, and so needs a location for them. */
  reserves: boolean
}

/** The ports of a vendor's client. */
export function cloudPorts(vendor: Vendor): Pick<CloudProvider, 'cloud' | 'machines' | 'peering' | 'assignments'> {
  return { cloud: vendor, machines: vendor, peering: vendor.peering, assignments: vendor.assignments }
}

/** The time limits of calls to a cloud. */
export function cloudTimeouts({ cloudTimeoutMs }: { cloudTimeoutMs: number }): {
  writeTimeoutMs: number
  readTimeoutMs: number
} {
  return { writeTimeoutMs: cloudTimeoutMs, readTimeoutMs: cloudTimeoutMs / 2 }
}

/** The control-plane address in a dialect's settings; undefined without a tag. */
export function controlPlaneOf(settings: {
  tag: string | undefined
  port?: number
  byHostAddress?: boolean
}): ControlPlaneOptions | undefined {
  const { tag, port = 0, byHostAddress = false } = settings
  return tag === undefined ? undefined : { tag, ...(port !== 0 && { port }), byHostAddress }
}
