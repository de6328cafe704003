import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '../../kube/objects.ts'
import { dialectOf } from '../whole/dialects.ts'
import type { Arena } from './arena.ts'
import type { Random } from './random.ts'
import type { Trouble } from './troubles.ts'

export type Tally = {
  steps: number
  faults: number
  kills: number
  refusals: number
  violations: string[]
  /** Events of the walk that may fire alerts. */
  troubles: Set<Trouble>
}

/** The next steps that the walk may choose. */
export type Action = {
  /** Its weight among all actions. */
  often: number
  name: string
  /** The next step waits until this one is over. */
  isAlone?: true
  run: (arena: Arena, random: Random, tally: Tally) => Promise<void>
}

/** The tag of reservations of another cluster in the project. */
export const clusterTagOfOthers = 'cluster=others'

export const chaosNamespaces = ['chaos-a', 'chaos-b']
/** A tenant has rights only in this namespace. */
export const tenantNamespace = 'chaos-tenant'
/** Another tenant has addresses here: within one namespace, a Service may request another Service's address. */
export const forgerNamespace = 'chaos-forger'
export const names = ['web', 'shop', 'mail', 'blog', 'game', 'wiki']

/** A Service of the walk: it may exist or not. */
export function place(random: Random): { namespace: string; name: string } {
  return { namespace: random.pick(chaosNamespaces), name: random.pick(names) }
}

/** A Service as a user writes it. */
export function manifest(at: { namespace: string; name: string }, type: 'LoadBalancer' | 'ClusterIP'): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: at,
    spec: { type, selector: { app: at.name }, ports: [{ port: 80 }] },
  }
}

/** Orders an address without the product; undefined if a fault of the cloud hits the order. */
export async function orderIn({ dialect, cloud, project, token }: Arena['stage'], tags: string[]) {
  const order = dialectOf(dialect).order({ url: cloud.url, project, token }, tags)
  return Promise.race([order.catch(() => undefined), sleep(2_000, undefined)])
}
