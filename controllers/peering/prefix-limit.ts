import { announcedAddresses, serviceStates } from '../announcing/announced.ts'
import type { ControllerDeclaration } from '../loop/controller.ts'
import { watch } from '../loop/watch.ts'
import type { Dependencies } from '../dependencies.ts'
import type { Reconciler } from '../loop/reconciler.ts'

/** The only key of the limit, because every node announces the same addresses. */
export const prefixLimitKey = 'all'

type Deps = Pick<Dependencies, 'caches' | 'want' | 'peerFacts' | 'vendor' | 'events' | 'log'>

/** A burst of Services is counted once. */
const gatherMs = 1_000

/** Warns if there are more addresses than the provider's routers accept from a node. */
export function prefixLimitController(deps: Deps): ControllerDeclaration[] {
  const { peerFacts, vendor, caches } = deps
  const { services, records } = caches
  const { bgp, peering } = vendor
  const { maxPrefixes: max } = bgp
  if (!peering || !bgp.isOn || max === undefined) return []
  return [
    {
      reconciler: prefixLimit({
        countAnnounced: () => announcedAddresses(serviceStates(deps)).length,
        max,
        warn: (message) => warnNodes(deps, message),
      }),
      watches: [services, records].map((cache) => watch(cache, () => [prefixLimitKey], gatherMs)),
      needs: [services, records, peerFacts],
      keys: () => [prefixLimitKey],
    },
  ]
}

/** Every node announces all addresses, so each node gets the warning. */
function warnNodes({ caches, events, peerFacts, log }: Deps, message: string): void {
  log.warn({ warning: message }, 'too many addresses')
  for (const { node: name } of peerFacts.all()) {
    const node = caches.nodes.get(name)
    if (node) events.of('node-peering').record(node, { type: 'Warning', reason: 'TooManyAddresses', message })
  }
}

type PrefixLimitDeps = {
  /** How many addresses every node announces. */
  countAnnounced: () => number
  /** How many addresses the provider's routers accept from a node. */
  max: number
  warn: (message: string) => void
}

/** Warns, each time the number exceeds the limit, that all Services may lose their traffic. */
export function prefixLimit({ countAnnounced, max, warn }: PrefixLimitDeps): Reconciler {
  let isOver = false
  return {
    name: 'prefix-limit',
    async reconcile() {
      const count = countAnnounced()
      if (count > max && !isOver) {
        const limit = `the provider's routers accept ${max} from a node, and end its session permanently if it sends more`
        warn(`${count} addresses are announced, but ${limit}: delete some Services, or have the vendor raise the limit`)
      }
      isOver = count > max
      return {}
    },
  }
}
