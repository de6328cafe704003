import { setTimeout as sleep } from 'node:timers/promises'
import type { Stage } from '../sandbox/stage.ts'
import { bgpAdvertisements, bgpPeers, ipAddressPools } from '../announcers/metallb/resources.ts'
import { listAll } from '../kube/list-all.ts'
import type { KubeObject, Node } from '../kube/objects.ts'
import { nodes, services } from '../kube/resource.ts'
import { elasticIPs } from '../ledger/record/elastic-ip.ts'
import { inFlight } from './in-flight.ts'
import type { Row } from './measure.ts'
import { announced, installMetallb, joinNodes, metallbEnv, nodeNames } from './metallb-stage.ts'
import { type Admin, bound, createWithAddress, onStage, swept, withoutNodePort } from './stage.ts'

type Size = { services: number; nodes: number }

const clients = 8
/** Longer than any wait of a controller after a change. */
const restMs = 5_000

/** The calls to the provider until a cluster has settled, and after small changes in it. */
export function settle(count: Size = { services: 500, nodes: 50 }): Promise<Row[]> {
  return onStage(async (stage, admin) => {
    const { quota, calls } = stage.cloud.control
    quota.set(2 * count.services)
    await installMetallb(stage, admin)
    await joinNodes(stage, admin, nodeNames(count.nodes))
    calls.clear()
    const product = await stage.serve({ env: metallbEnv })
    await swept(admin)
    const create = (place: number) => createWithAddress(admin, `web-${place}`, withoutNodePort)
    await inFlight(clients, count.services, async (place) => void (await create(place)))
    await settled(admin, count)
    const first = calls.count()
    const small = await smallThings(stage, admin, count)
    await product.stop()
    const before = await versions(admin)
    const again = await counted(stage, async () => {
      await stage.serve({ env: metallbEnv })
      await settled(admin, { ...count, nodes: count.nodes + 1 })
    })
    return [
      {
        measure: `${count.services} Services and ${count.nodes} nodes settle`,
        unit: 'calls',
        ours: [first],
        beside: { what: 'one a Service', samples: [count.services] },
        goal: { of: 'ours', atMost: count.services + 3 * count.nodes + 20 },
      },
      ...small,
      {
        measure: 'a restart when all is settled, reads',
        unit: 'calls',
        ours: [again.reads],
        goal: { of: 'ours', atMost: count.nodes + 1 + 10 },
      },
      { measure: 'the same, writes', unit: 'calls', ours: [again.writes], goal: { of: 'ours', atMost: 0 } },
      {
        measure: 'the same, written to the API server',
        unit: 'objects',
        ours: [(await versions(admin)).filter((version) => !before.includes(version)).length],
        goal: { of: 'ours', atMost: 0 },
      },
    ]
  })
}

async function settled(admin: Admin, count: Size): Promise<void> {
  await bound(admin, count.services)
  await announced(admin, { addresses: count.services, nodes: count.nodes })
  await sleep(restMs)
}

/** Every stored object that we write for a Service or a node. */
async function versions(admin: Admin): Promise<string[]> {
  const kinds = [services, nodes, elasticIPs, ipAddressPools, bgpPeers, bgpAdvertisements]
  const lists = await Promise.all(kinds.map((kind) => listAll<KubeObject>(admin, kind)))
  return lists.flat().map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`)
}

/** Small changes: a few calls each, whatever the size of the cluster. */
async function smallThings(stage: Stage, admin: Admin, count: Size): Promise<Row[]> {
  const things: Record<string, () => Promise<unknown>> = {
    'a node goes NotReady and comes back': async () => {
      for (const status of ['Unknown', 'True'] as const) await report(admin, 'node-0', status)
    },
    'a node is added': () => joinNodes(stage, admin, nodeNames(1, count.nodes)),
    'an annotation of a Service is edited': () =>
      admin.patch(services, {
        namespace: 'default',
        name: 'web-0',
        patch: { merge: { metadata: { annotations: { 'example.com/note': 'edited' } } } },
      }),
  }
  const rows: Row[] = []
  for (const [measure, happens] of Object.entries(things)) {
    const { reads, writes } = await counted(stage, async () => {
      await happens()
      await sleep(restMs)
    })
    rows.push({ measure, unit: 'calls', ours: [reads + writes], goal: { of: 'ours', atMost: 5 } })
  }
  return rows
}

async function report(admin: Admin, name: string, status: 'True' | 'Unknown'): Promise<void> {
  const patch = { merge: { status: { conditions: [{ type: 'Ready', status }] } } }
  await admin.patch<Node>(nodes, { name, patch }, { subresource: 'status' })
  await sleep(restMs)
}

async function counted({ cloud }: Stage, work: () => Promise<void>): Promise<{ reads: number; writes: number }> {
  const { calls } = cloud.control
  calls.clear()
  await work()
  const all = calls.all()
  const reads = all.filter(({ route }) => route.startsWith('GET ')).length
  return { reads, writes: all.length - reads }
}
