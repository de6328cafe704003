import { setTimeout as sleep } from 'node:timers/promises'
import { listAll } from '../../kube/list-all.ts'
import { type Service, ingressOf, keyOf } from '../../kube/objects.ts'
import { configMaps, services } from '../../kube/resource.ts'
import { elasticIPs, recordName, secondKeys } from '../../ledger/record/elastic-ip.ts'
import { dialectOf, reservationsIn } from '../whole/dialects.ts'
import { type Arena, otherCaller } from './arena.ts'

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
    const addresses = ingressOf(service).flatMap(({ ip }) => ip ?? [])
    const { loadBalancerIP: first = '' } = service.spec
    if (addresses.length === 0) wrong.push(`${key} shows no address`)
    else if (!addresses.includes(first)) wrong.push(`${key} shows another address than it asks for`)
    if (!numbersOf(service).includes(addresses.length)) wrong.push(`${key} shows ${addresses.join(' and ')}`)
    for (const address of addresses) {
      if (!byAddress.has(address)) wrong.push(`${key} shows ${address}, which is not reserved`)
      else if (shown.has(address)) wrong.push(`${key} and ${shown.get(address)} both show ${address}`)
      shown.set(address, key)
    }
  }
  if (nodes.names.length > 0)
    for (const [address, key] of shown) {
      const holders = dialectOf(stage.dialect).holdersOf(stage.cloud.control, address)
      if (holders.length !== 1 || !holders.every(nodes.has))
        wrong.push(`${key}: ${address} leads to no node (${holders.join()})`)
    }
  for (const { address, id, tags } of reserved) {
    if (tags.includes(clusterTagOfOthers)) continue
    if (!shown.has(address ?? '')) wrong.push(`reservation ${id} (${address}; ${tags.join(' ')}) has no Service`)
  }
  const owners = new Set(live.map(keyOf))
  for (const { metadata, spec, status } of records) {
    const { namespace, name } = spec.claimRef ?? {}
    if (!owners.has(`${namespace}/${name}`)) wrong.push(`ElasticIP ${metadata.name} (${status?.phase}) has no Service`)
    else if (status?.phase !== 'Bound' && !mayBeMissing(metadata.name, live))
      wrong.push(`ElasticIP ${metadata.name} is ${status?.phase}`)
  }
  const ids = new Set(reserved.map(({ id }) => id))
  for (const id of ordered) if (!ids.has(id)) wrong.push(`reservation ${id} of another cluster is gone`)
  const { reserve, release } = dialectOf(stage.dialect).routes
  for (const { caller, route } of [reserve, release].flatMap((route) => stage.cloud.control.calls.all(route)))
    if (caller === otherCaller) wrong.push(`${route} was called for another account`)
  for (const { metadata } of all) if (metadata.deletionTimestamp) wrong.push(`${metadata.name} is still terminating`)
  return wrong
}

/** How many addresses a Service may show at rest. The second of one that only prefers it is tried each ten minutes. */
function numbersOf({ spec: { ipFamilyPolicy: policy, ipFamilies = [] } }: Service): number[] {
  if (ipFamilies.length < 2) return [1]
  return policy === 'RequireDualStack' ? [2] : [1, 2]
}

/** Whether a record is that of a second address which its Service can do without. */
function mayBeMissing(record: string, live: Service[]): boolean {
  const prefers = live.filter(({ spec }) => spec.ipFamilyPolicy === 'PreferDualStack')
  return prefers.some((service) => secondKeys(keyOf(service)).map(recordName).includes(record))
}

/** What the cluster and the cloud have, for a person who looks for the cause of a violation. */
export async function stateOf({ client, stage }: Arena): Promise<object> {
  return {
    services: await listAll(client, services),
    records: await listAll(client, elasticIPs),
    maps: await client.list(configMaps, { namespace: 'eip-admission' }),
    reservations: stage.cloud.control.reservations.all(),
    calls: stage.cloud.control.calls.all(),
  }
}

/** Ends all trouble and waits; returns what is still wrong after `withinMs`. */
export async function atRest(arena: Arena, withinMs: number): Promise<string[]> {
  const { faults, latency } = arena.stage.cloud.control
  faults.clear()
  latency.clear()
  await arena.nodes.recover()
  for (const replica of arena.replicas) await replica.recover()
  const endMs = performance.now() + withinMs
  for (;;) {
    const wrong = await violations(arena)
    if (wrong.length === 0 || performance.now() > endMs) return wrong
    await sleep(250)
  }
}
