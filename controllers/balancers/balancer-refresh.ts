import type { Balancers, ListedBalancer, BalancerAnnotations } from '../../clouds/ports/balancers.ts'
import { type Key, type Service, keyOf } from '../../kube/objects.ts'
import { namedBalancer } from './balancer-state.ts'

export type BalancerRefreshDeps = {
  balancers: Pick<Balancers, 'list'>
  annotations: BalancerAnnotations
  /** The Services that have or want a balancer. */
  served: () => readonly Service[]
}

export type BalancerRefresh = {
  run: (signal: AbortSignal) => Promise<undefined>
  /** Calls the listener with each Service whose balancer the list lacks. */
  onChange(listener: (key: Key) => void): void
}

/** Lists the balancers of the project, because no notice comes when a person deletes one. */
export function balancerRefresh({ balancers, annotations, served }: BalancerRefreshDeps): BalancerRefresh {
  const listeners: ((key: Key) => void)[] = []
  return {
    onChange: (listener) => void listeners.push(listener),
    async run(signal) {
      if (!served().some((service) => namedBalancer(service, annotations) !== undefined)) return
      const listed = await balancers.list(signal)
      for (const key of withoutBalancer(served(), { listed, annotations }))
        for (const listener of listeners) listener(key)
    },
  }
}

/** The Services that name a balancer which a list lacks. The list proves nothing: each is looked at on its own. Pure. */
export function withoutBalancer(
  services: readonly Service[],
  { listed, annotations }: { listed: readonly ListedBalancer[]; annotations: BalancerAnnotations },
): Key[] {
  const ids = new Set<string | undefined>(listed.map(({ id }) => id))
  return services
    .filter((service) => {
      const named = namedBalancer(service, annotations)
      return named !== undefined && !ids.has(named)
    })
    .map(keyOf)
}
