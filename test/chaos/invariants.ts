import { setTimeout as sleep } from 'node:timers/promises'
import { listAll } from '../../kube/list-all.ts'
import { keyOf } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { dialectOf, reservationsIn } from '../whole/dialects.ts'
import type { Arena } from './arena.ts'

/** The tag of reservations of another cluster in the project. */
export const clusterTagOfOthers = 'cluster=others'

/** What is wrong now; some of it only because something is still in progress. */
async function violations({ client, stage, nodes, ordered }: Arena): Promise<string[]> {
  const [all, records] = await Promise.all([listAll(client, services), listAll(client, elasticIPs)])
  const reserved = reservationsIn(stage.dialect, stage.cloud.control)
  const live = all.filter(
    ({ spec, metadata }) =>
      spec.type === 'LoadBalancer' && spec.loadBalancerClass === undefined && !metadata.deletionTimestamp,
  )
  const byAddress = new Map(reserved.map((one) => [one.address, one]))
  const shown = new Map<string, string>()
  const wrong: string[] = []
  for (const service of live) {
    const key = keyOf(service)
    const address = service.status?.loadBalancer?.ingress?.[0]?.ip
    if (address === undefined) wrong.push(`${key} shows no address`)
    else if (address !== service.spec.loadBalancerIP) wrong.push(`${key} shows another address than it asks for`)
    else if (!byAddress.has(address)) wrong.push(`${key} shows ${address}, which is not reserved`)
    else if (shown.has(address)) wrong.push(`${key} and ${shown.get(address)} both show ${address}`)
    if (address !== undefined) shown.set(address, key)
  }
  if (nodes.names.length > 0)
    for (const [address, key] of shown) {
      const holders = dialectOf(stage.dialect).holdersOf(stage.cloud.control, address)
      if (holders.length !== 1 || !holders.every(nodes.has))
        wrong.push(`${key}: ${address} leads to no node (${holders.join()})`)
    }
  for (const { address, id, tags } of reserved) {
    if (tags.includes(clusterTagOfOthers)) continue
    if (!shown.has(address ?? '')) wrong.push(`reservation ${id} (${address}) has no Service`)
  }
  const owners = new Set(live.map(keyOf))
  for (const { metadata, spec, status } of records) {
    const { namespace, name } = spec.claimRef ?? {}
    if (!owners.has(`${namespace}/${name}`)) wrong.push(`ElasticIP ${metadata.name} (${status?.phase}) has no Service`)
    else if (status?.phase !== 'Bound') wrong.push(`ElasticIP ${metadata.name} is ${status?.phase}`)
  }
  const ids = new Set(reserved.map(({ id }) => id))
  for (const id of ordered) if (!ids.has(id)) wrong.push(`reservation ${id} of another cluster is gone`)
  for (const { metadata } of all) if (metadata.deletionTimestamp) wrong.push(`${metadata.name} is still terminating`)
  return wrong
}

/** Ends all trouble and waits; returns what is still wrong after `withinMs`. */
export async function atRest(arena: Arena, withinMs: number): Promise<string[]> {
  const { faults, latency } = arena.stage.cloud.control
  faults.clear()
  latency.clear()
  await arena.nodes.recover()
  for (const replica of arena.replicas) if (!replica.isRunning()) await replica.start()
  const endMs = performance.now() + withinMs
  for (;;) {
    const wrong = await violations(arena)
    if (wrong.length === 0 || performance.now() > endMs) return wrong
    await sleep(250)
  }
}
