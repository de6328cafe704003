import { setTimeout as sleep } from 'node:timers/promises'
import type { Cloud } from './cloud.ts'
import type { Network } from './network.ts'

/** The machines that an address was assigned to from a point in time, and when the network followed. */
export type Assigned = { atMs: number; machines: string[]; routedMs: number }

/** The vendor's network: packets to the address go to the machine that the cloud assigns it to. */
export type Assignment = {
  /** Every change so far, oldest first. */
  history(): Assigned[]
  /** Returns the longest time that the network lagged behind the cloud. */
  lagMs(): number
  stop(): Promise<void>
}

export type AssignmentOptions = {
  cloud: Pick<Cloud, 'address' | 'holders' | 'machines'>
  network: Network
  /** Whether machines always have the address, as their owner configured it, or only while it is assigned to them. */
  alias: 'always' | 'while-assigned'
}

const periodMs = 20

/** Follows the cloud's assignment with a route, until it is stopped. */
export async function followAssignment({ cloud, network, alias }: AssignmentOptions): Promise<Assignment> {
  const { address, machines } = cloud
  const history: Assigned[] = []
  let lagMs = 0
  const stopping = new AbortController()

  const follow = async (seenMs: number): Promise<number> => {
    const nowMs = Date.now()
    const holders = cloud.holders()
    const before = history.at(-1)
    if (before && String(before.machines) === String(holders)) return nowMs
    const assigned = { atMs: nowMs, machines: holders, routedMs: Infinity }
    history.push(assigned)
    const [holder] = holders.length === 1 ? holders : []
    await network.route(address, holder)
    if (alias === 'while-assigned')
      for (const { name } of machines) await setAlias(network, { name, address, isHolder: name === holder })
    assigned.routedMs = Date.now()
    // The assignment may have changed just after the previous check.
    if (before) lagMs = Math.max(lagMs, assigned.routedMs - seenMs)
    return nowMs
  }

  let seenMs = await follow(Date.now())
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      seenMs = await follow(seenMs)
      await sleep(periodMs)
    }
  })()
  return {
    history: () => history.map((one) => ({ ...one })),
    lagMs: () => lagMs,
    async stop() {
      stopping.abort()
      await loop
    },
  }
}

type Alias = { name: string; address: string; isHolder: boolean }

async function setAlias(network: Network, { name, address, isHolder }: Alias): Promise<void> {
  // The holder may change before a machine ever had the address.
  if (!isHolder) await network.setAlias(name, address, 'present')
  await network.setAlias(name, address, isHolder ? 'present' : 'absent')
}
