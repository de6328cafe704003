import { setTimeout as sleep } from 'node:timers/promises'
import type { Stage } from '../sandbox/stage.ts'
import { bareReserve } from './bare-reserve.ts'
import { inFlight } from './in-flight.ts'
import type { Row } from './measure.ts'
import { inRounds, time } from './samples.ts'
import { type Admin, bound, createWithAddress, env, onStage, swept } from './stage.ts'

const rounds = 9
const latencyMs = 250

/** From just before the POST of a Service until the answer that carries its address, over one bare reserve call. */
export function create(): Promise<Row[]> {
  return onStage(async (stage, admin) => {
    await stage.serve({ env })
    await swept(admin)
    await createWithAddress(admin, 'warm')
    const { ours, bare } = await createInRounds(stage, admin, 1)
    const beside = { what: 'one bare reserve call', samples: bare }
    return [
      { measure: 'create to address', unit: 'ms', ours, beside, goal: { of: 'ratio', atMost: 1.1 } },
      {
        measure: 'create to address, over the call',
        unit: 'ms',
        ours: ours.map((ms, round) => ms - (bare[round] ?? Number.NaN)),
      },
    ]
  })
}

/** How many Services have an address already: each create counts them for its limits. */
const sizes = [0, 1_000, 5_000]
const clients = 16
/** A cluster has fewer node ports than this bench has Services. */
const withoutNodePorts = { allocateLoadBalancerNodePorts: false }
const limits = { EIP_MAX_ADDRESSES: '100000', EIP_MAX_ADDRESSES_PER_NAMESPACE: '100000' }

/** The same with limits, in a cluster that holds more and more addresses. */
export function held(): Promise<Row[]> {
  return onStage(async (stage, admin) => {
    stage.cloud.control.quota.set(2 * Math.max(...sizes))
    await stage.serve({ env: { ...env, ...limits } })
    await swept(admin)
    await createWithAddress(admin, 'warm')
    let count = 1
    const rows: Row[] = []
    for (const size of sizes) {
      const missing = Math.max(0, size - count)
      const first = count
      await inFlight(clients, missing, (n) => createWithAddress(admin, `held-${first + n}`, withoutNodePorts))
      count += missing
      await bound(admin, count)
      const { ours, bare } = await createInRounds(stage, admin, count)
      count += rounds
      const beside = { what: 'one bare reserve call', samples: bare }
      rows.push({ measure: `create to address, ${size} held`, unit: 'ms', ours, beside })
    }
    return rows
  })
}

/** By then the work after a create, and our own list of all Services, are over: they would delay the next create. */
const restMs = 1_500

/** Creates a Service and reserves an address in each round, while this many Services are bound. */
async function createInRounds(stage: Stage, admin: Admin, count: number): Promise<{ ours: number[]; bare: number[] }> {
  await bareReserve(stage)
  await sleep(restMs)
  stage.cloud.control.latency.set({ ms: latencyMs })
  const ours: number[] = []
  const bare: number[] = []
  await inRounds(rounds, {
    async ours(round) {
      ours.push(
        await time(async () => mustHave(await createWithAddress(admin, `web-${count}-${round}`, withoutNodePorts))),
      )
      await bound(admin, count + round + 1)
      await sleep(restMs)
    },
    async bare() {
      bare.push(await time(() => bareReserve(stage)))
    },
  })
  stage.cloud.control.latency.clear()
  return { ours, bare }
}

function mustHave(address: boolean): void {
  if (!address) throw new Error('a Service came back from its creation without an address')
}
