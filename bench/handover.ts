import type { Lease } from '../kube/objects.ts'
import { leases } from '../kube/resource.ts'
import { freePorts } from '../sandbox/ports.ts'
import type { Product } from '../sandbox/product.ts'
import type { Stage } from '../sandbox/stage.ts'
import type { Row } from './measure.ts'
import { type Admin, env, onStage, until } from './stage.ts'

const rounds = 7
/** Each takes the length of a lease. */
const killRounds = 3
const lease = { namespace: 'kube-system', name: 'cloud-controller-manager' }

/** From the end of the leader until another replica leads. */
export function handover(): Promise<Row[]> {
  return onStage(async (stage, admin) => {
    const lease: number[] = []
    const gauge: number[] = []
    const killed: number[] = []
    let leader = await stage.serve({ env })
    await until('the first replica leads', () => leads(leader))
    for (let round = 0; round < rounds; round += 1) {
      const other = await serveBeside(stage)
      const seen = await transferWarm({ admin, leader, other }, 'SIGTERM')
      lease.push(seen.leaseMs)
      gauge.push(seen.leadsMs)
      leader = other
    }
    for (let round = 0; round < killRounds; round += 1) {
      const other = await serveBeside(stage)
      killed.push((await transferWarm({ admin, leader, other }, 'SIGKILL')).leadsMs)
      leader = other
    }
    return [
      { measure: 'SIGTERM to the lease of another replica', unit: 'ms', ours: lease },
      { measure: 'SIGTERM to another leader', unit: 'ms', ours: gauge, goal: { of: 'ours', atMost: 1000 } },
      { measure: 'SIGKILL to another leader', unit: 'ms', ours: killed, goal: { of: 'ours', atMost: 10_000 } },
    ]
  })
}

/** Starts one more replica with a webhook port of its own; reviews still go to the first one. */
async function serveBeside(stage: Stage): Promise<Product> {
  const [port = 0] = await freePorts(1)
  return stage.serve({ env, flags: [`--webhook-secure-port=${port}`] })
}

type Replicas = { admin: Admin; leader: Product; other: Product }

async function transferWarm(
  { admin, leader, other }: Replicas,
  signal: 'SIGTERM' | 'SIGKILL',
): Promise<{ leaseMs: number; leadsMs: number }> {
  const before = await admin.get(leases, lease)
  if (!before) throw new Error('there is no lease')
  const taken = whenTaken(admin, before)
  const startedMs = performance.now()
  leader.signal(signal)
  const takenMs = await taken
  await until('the other replica leads', () => leads(other), 5)
  const leadsMs = performance.now() - startedMs
  await leader.stop()
  return { leaseMs: takenMs - startedMs, leadsMs }
}

async function whenTaken(admin: Admin, before: Lease): Promise<number> {
  const ends = new AbortController()
  const options = { namespace: lease.namespace, resourceVersion: before.metadata.resourceVersion ?? '' }
  for await (const { type, object } of admin.watch(leases, options, ends.signal)) {
    if (type === 'BOOKMARK' || object.metadata.name !== lease.name) continue
    const holder = object.spec?.holderIdentity ?? ''
    if (holder !== '' && holder !== before.spec?.holderIdentity) return performance.now()
  }
  throw new Error('the watch ended before another replica held the lease')
}

async function leads(product: Product): Promise<boolean> {
  const { text } = await product.health('/metrics')
  return text.includes('eip_admission_leader 1')
}
