import type { Location } from './cloud.ts'

/**
 * The port between us and a provider's managed load balancers. A vendor's client implements `Balancers`. As in `Cloud`,
 * a read returns undefined if the object does not exist, and deleting a deleted object is success.
 */
export type Balancers = {
  readonly name: string
  /** Where balancers can be created. */
  readonly locations: readonly Location[]
  /** All balancers of the project. Only the id, the name and the time of creation are guaranteed. */
  list(signal: AbortSignal): Promise<ListedBalancer[]>
  get(id: string, signal: AbortSignal): Promise<Balancer | undefined>
  /** Returns the new id. Not idempotent: `CloudError.outcome` is `unknown` if a failed call may have created a balancer. */
  create(request: { name: string; location: string }, signal: AbortSignal): Promise<string>
  /** Deletes a balancer and its balancer ports. Its pools stay. */
  remove(id: string, signal: AbortSignal): Promise<void>
  /** Returns the id of the new balancer port. */
  addPort(balancer: string, port: { name: string; number: number; pool: string }, signal: AbortSignal): Promise<string>
  removePort(id: string, signal: AbortSignal): Promise<void>
  /** All origin pools of the project, attached or not. */
  pools(signal: AbortSignal): Promise<OriginPool[]>
  /** Returns the id of the new pool, which no balancer port uses yet. */
  addPool(name: string, signal: AbortSignal): Promise<string>
  /** Deletes a pool and its origins. */
  removePool(id: string, signal: AbortSignal): Promise<void>
  /** The origins of a pool; undefined if the pool does not exist. */
  origins(pool: string, signal: AbortSignal): Promise<Origin[] | undefined>
  addOrigin(pool: string, origin: NewOrigin, signal: AbortSignal): Promise<void>
  removeOrigin(id: string, signal: AbortSignal): Promise<void>
}

export type ListedBalancer = { id: string; name: string; createdAt: string | undefined }

export type Balancer = ListedBalancer & {
  /** The code of its location; undefined if the provider does not return it, or returns an unknown one. */
  location: string | undefined
  /** Empty until the provider has built it. */
  addresses: string[]
  ports: BalancerPort[]
}

/** A port on which a balancer accepts connections, with the pools that it forwards them to. */
export type BalancerPort = { id: string; number: number; pools: string[] }

export type OriginPool = { id: string; name: string; createdAt: string | undefined }

/** The target of a pool's connections: an address and a port. */
export type Origin = { id: string; address: string; port: number }

export type NewOrigin = { name: string; address: string; port: number }

/** The annotations that show a Service's balancer. */
export type BalancerAnnotations = { id: string; location: string }
