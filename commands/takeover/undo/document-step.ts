import type { ObjectSessions } from '../../../announcers/announcer.ts'
import type { Miscounted } from '../../../announcers/metallb/document-peers.ts'
import { type Recount, recount } from '../../../announcers/metallb/document.ts'
import { distinct } from '../../../announcers/shared/order.ts'
import { sessionPauseMs } from '../../../controllers/announcing/plan-runner.ts'
import { wavesOf } from '../../../controllers/announcing/session-waves.ts'
import { type ConfigMap, keyOf } from '../../../kube/objects.ts'
import { listAll } from '../../../kube/list-all.ts'
import { configMaps, services } from '../../../kube/resource.ts'
import { newFinalizers, predecessorNamed } from '../found.ts'
import type { TakeoverStep } from '../steps.ts'
import { isServed } from './metallb-step.ts'
import { type UndoWork, unlessRace } from './undo-steps.ts'
import { counted } from '../../../lib/text.ts'

const key = 'config'

/**
 * Writes our peers in MetalLB's ConfigMap as the predecessor would. It would update the counts of Services one by one,
 * and each time MetalLB would close the sessions of all nodes. A version that counts none would add a second peer.
 */
export function documentStep({ client, found, signal, check, clock }: UndoWork): TakeoverStep {
  const read = async (): Promise<{ map: ConfigMap; waves: Miscounted[][]; counts: Recount } | undefined> => {
    const map = found.document && (await client.get<ConfigMap>(configMaps, found.document, { signal }))
    if (!map) return undefined
    const served = (await listAll(client, services, { signal })).filter((service) => isServed(service, found))
    const { counting } = predecessorNamed(found.predecessor).metallb
    // Versions without a service controller count none.
    const keys = newFinalizers(found).length > 0 ? distinct(served.map(keyOf)) : undefined
    const counts = recount(map.data?.[key] ?? '', { counting, services: keys })
    return { map, counts, waves: wavesOfPeers(counts.peers) }
  }
  return {
    title: "Return the peers in MetalLB's ConfigMap",
    async missing() {
      const { counts, waves = [] } = (await read()) ?? {}
      if (waves.length === 0) return undefined
      return {
        text: `left: ${counted(counts?.peers.length ?? 0, 'peers')}, in ${counted(waves.length, 'waves')} of sessions`,
      }
    },
    async act() {
      for (let seen = await read(); seen && !signal.aborted; seen = await read()) {
        const [wave] = seen.waves
        if (!wave) return
        await check()
        const { map, counts } = seen
        const corrected = { ...map, data: { ...map.data, [key]: counts.correct(wave) } }
        await client.replace(configMaps, corrected, { signal }).catch(unlessRace)
        await clock.sleep(sessionPauseMs, signal)
      }
    },
  }
}

function wavesOfPeers(peers: readonly Miscounted[]): Miscounted[][] {
  const sessionsOf = ({ hostname, router }: Miscounted): ObjectSessions[] => [
    { nodes: [hostname], router, localAsn: 0 },
  ]
  const units = peers.map((change) => ({
    changes: [{ change, kind: 'update' as const, sessions: sessionsOf(change) }],
    isReady: true,
  }))
  return wavesOf(units, peers.flatMap(sessionsOf))
}
