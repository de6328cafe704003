import { ipAddressPools } from '../announcers/metallb/resources.ts'
import { services } from '../kube/resource.ts'
import { elasticIPs } from '../ledger/record/elastic-ip.ts'
import type { Stage } from '../sandbox/stage.ts'
import { apiRequests } from './api-requests.ts'
import { inFlight } from './in-flight.ts'
import type { Row } from './measure.ts'
import { announced, installMetallb, joinNodes, metallbEnv, nodeNames } from './metallb-stage.ts'
import { time } from './samples.ts'
import { type Admin, bound, createWithAddress, onStage, swept, until } from './stage.ts'

const few = 250
const many = 1000
const nodes = 2
const clients = 16
const poolLists = /^LIST ipaddresspools/

/** Many Services deleted at once: each address is withdrawn, observed as withdrawn, and released. */
export function drain(): Promise<Row[]> {
  return onStage(async (stage, admin) => {
    stage.cloud.control.quota.set(2 * many)
    await installMetallb(stage, admin)
    await joinNodes(stage, admin, nodeNames(nodes))
    await stage.serve({ env: metallbEnv })
    await swept(admin)
    const small = await drained(stage, admin, few)
    const large = await drained(stage, admin, many)
    return [
      {
        measure: `${many} Services with MetalLB deleted, until all is released`,
        unit: 'ms',
        ours: [large.ms],
        beside: { what: `${many / few} times ${few} Services`, samples: [(many / few) * small.ms] },
        goal: { of: 'ours', atMost: 60_000 },
      },
      {
        measure: 'the same, against a time in proportion',
        unit: 'ms',
        ours: [large.ms],
        beside: { what: `${many / few} times ${few} Services`, samples: [(many / few) * small.ms] },
        goal: { of: 'ratio', atMost: 1.5 },
      },
      {
        measure: 'the same, full lists of pools for each Service',
        unit: 'calls',
        ours: [large.lists / many],
        goal: { of: 'ours', atMost: 0.5 },
      },
    ]
  })
}

async function drained(stage: Stage, admin: Admin, count: number): Promise<{ ms: number; lists: number }> {
  const name = (place: number) => `web-${count}-${place}`
  await inFlight(clients, count, async (place) => void (await createWithAddress(admin, name(place))))
  await bound(admin, count)
  await announced(admin, { addresses: count, nodes })
  const before = await apiRequests(stage)
  const ms = await time(async () => {
    await inFlight(clients, count, (place) => admin.remove(services, { namespace: 'default', name: name(place) }))
    // In parts, because a single wait is limited.
    for (const left of [0.75, 0.5, 0.25, 0].map((share) => share * count)) {
      await until(`${left} addresses are left`, async () => (await admin.list(elasticIPs)).items.length <= left, 500)
    }
  })
  const lists = (await apiRequests(stage)).of(poolLists) - before.of(poolLists)
  await until('no pool is left', async () => (await admin.list(ipAddressPools)).items.length === 0)
  return { ms, lists }
}
