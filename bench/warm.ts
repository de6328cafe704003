import type { Service } from '../kube/objects.ts'
import { services } from '../kube/resource.ts'
import { elasticIPs } from '../ledger/record/elastic-ip.ts'
import { isAvailable } from '../ledger/record/source.ts'
import type { Row } from './measure.ts'
import { inRounds, time } from './samples.ts'
import { type Admin, createWithAddress, env, loadBalancer, onStage, swept, until } from './stage.ts'

const rounds = 15
const latencyMs = 250
const size = 2

/**
 * The same as `create`, with a warm address. The reference is a Service of another class, for which no webhook is
 * called.
 */
export function warm(): Promise<Row[]> {
  return onStage(async (stage, admin) => {
    await stage.serve({ env: { ...env, EIP_WARM_POOL: String(size) } })
    await swept(admin)
    await filled(admin)
    await createWithAddress(admin, 'first')
    await createOfOthers(admin, 'first-of-others')
    stage.cloud.control.latency.set({ ms: latencyMs })
    const ours: number[] = []
    const bare: number[] = []
    await inRounds(rounds, {
      async ours(round) {
        await filled(admin)
        ours.push(await time(async () => mustHave(await createWithAddress(admin, `web-${round}`))))
      },
      async bare(round) {
        await filled(admin)
        bare.push(await time(() => createOfOthers(admin, `others-${round}`)))
      },
    })
    const beside = { what: 'a create with no webhook', samples: bare }
    return [{ measure: 'create to address, warm pool', unit: 'ms', ours, beside, goal: { of: 'ours', atMost: 30 } }]
  })
}

/** Waits until all work of the earlier round is done. */
function filled(admin: Admin): Promise<void> {
  return until('the warm pool is full', async () => {
    const { items } = await admin.list(elasticIPs)
    return items.filter(isAvailable).length === size && items.every(({ spec }) => spec.source === undefined)
  })
}

function createOfOthers(admin: Admin, name: string): Promise<Service> {
  const { spec, ...service } = loadBalancer(name)
  return admin.create(services, { ...service, spec: { ...spec, loadBalancerClass: 'example.com/others' } })
}

function mustHave(address: boolean): void {
  if (!address) throw new Error('a Service came back from its creation without an address')
}
