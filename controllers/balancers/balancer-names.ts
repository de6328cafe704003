import { createHash } from 'node:crypto'
import type { Key } from '../../kube/objects.ts'

/**
 * The names of everything that we create for a Service at the provider. They have at most 64 characters, and show the
 * Service to people. Their hash makes them unique, so that we find what a lost answer left behind.
 */
export type BalancerNames = {
  balancer: string
  /** The name of a port's origin pool, and of the balancer port in front of it. */
  pool: (port: number) => string
  /** Whether this is the name of the Service's balancer, by our rule or a predecessor's. */
  isBalancer: (name: string) => boolean
  /** The port of a pool that is named by our rule; undefined for any other pool. */
  portOfPool: (name: string) => number | undefined
}

export type NamesOf = {
  key: Key
  /** The id of the cluster, because clusters may share a project. */
  cluster: string
  /** The name that a predecessor gave to the Service's balancer. */
  former: string
}

/** With the suffix `-pool-65535`, a name of this length has 64 characters. */
const maxLength = 53
const hashLength = 24
const infix = '-pool-'

/** The names for one Service. */
export function balancerNames({ key, cluster, former }: NamesOf): BalancerNames {
  const hash = createHash('sha256').update(`${cluster} ${key}`).digest('hex').slice(0, hashLength)
  const readable = key.replace('/', '.').slice(0, maxLength - hashLength - 1)
  const balancer = `${readable}-${hash}`
  const prefix = `${balancer}${infix}`
  return {
    balancer,
    pool: (port) => `${prefix}${port}`,
    isBalancer: (name) => name === balancer || name === former,
    portOfPool: (name) => {
      const text = name.startsWith(prefix) ? name.slice(prefix.length) : ''
      return /^[1-9]\d{0,4}$/.test(text) ? Number(text) : undefined
    },
  }
}

/** The name of an origin: its node's, as far as the provider permits. */
export function originName(node: string): string {
  return node.slice(0, 64)
}
