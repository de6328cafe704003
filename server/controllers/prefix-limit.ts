import { announcedAddresses } from '../../controllers/announcing/announced.ts'
import { runController } from '../../controllers/controller.ts'
import { prefixLimit, prefixLimitKey } from '../../controllers/peering/prefix-limit.ts'
import { eventRecorder } from '../../kube/events.ts'
import { queue } from '../../kube/queue.ts'
import type { Dependencies } from '../dependencies.ts'
import { shown } from './announcing.ts'
import { type Controller, said } from './controller.ts'

/** A burst of Services is counted once. */
const gatherMs = 1_000

/** Warns of more addresses than the routers of the cloud take from a node. */
export function prefixLimits(deps: Dependencies): Controller {
  const { client, identity: instance, log, peerFacts, vendor, caches } = deps
  const { bgp, peering } = vendor
  const { maxPrefixes: most } = bgp
  if (!peering || !bgp.isOn || most === undefined) return { run: () => Promise.resolve() }
  const events = eventRecorder({ client, component: 'node-peering', instance, log })
  const keys = queue({ log })
  for (const cache of [caches.services, caches.records]) cache.onChange(() => keys.addAfter(prefixLimitKey, gatherMs))
  const warn = (message: string) => {
    log.warn({ warning: message }, 'too many addresses')
    for (const { node: name } of peerFacts.all()) {
      const node = caches.nodes.get(name)
      if (node) events.record(node, { type: 'Warning', reason: 'TooManyAddresses', message })
    }
  }
  const announced = () => announcedAddresses(shown(deps)).length
  const reconciler = prefixLimit({ announced, most, warn })
  return {
    async run(signal) {
      await Promise.all([caches.services.synced(signal), caches.records.synced(signal)])
      await peerFacts.loaded(signal)
      keys.add(prefixLimitKey)
      await runController({ ...said(deps), queue: keys, reconciler }, signal)
      await events.written()
    },
  }
}
