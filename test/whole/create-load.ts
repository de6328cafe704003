// Users who create Services at a steady pace, whatever happens to the replicas.
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import type { KubeClient } from '../../kube/client.ts'
import { listAll } from '../../kube/list-all.ts'
import type { Service } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { serviceFinalizer } from '../../ledger/record/names.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'

export type Creates = {
  /** The names of the Services that were created. */
  created: string[]
  /** The created Services that had no address at first: the review was slow, or there was none. */
  late: string[]
  /** The created Services that no review has seen. */
  missed: string[]
  /** Why other Services were not created. */
  failed: string[]
  /** The longest time in which a user waited for an answer. */
  longestMs: number
}

const namespace = 'default'
/** The most users that wait for an answer at a time, so that the load does not grow on a slow machine. */
const maxUsers = 8

/** Creates up to this many Services a second during `act`, and waits for each answer. */
export async function createWhile(
  client: KubeClient,
  { prefix, perSecond = 20 }: { prefix: string; perSecond?: number },
  act: () => Promise<unknown>,
): Promise<Creates> {
  const result: Creates = { created: [], late: [], missed: [], failed: [], longestMs: 0 }
  let users = 0
  const create = async (name: string) => {
    users += 1
    const startedMs = performance.now()
    try {
      const { metadata, spec } = await client.create(services, loadBalancer(name, { namespace }) as Service)
      result.created.push(name)
      if (spec.loadBalancerIP === undefined) result.late.push(name)
      if (!metadata.finalizers?.includes(serviceFinalizer)) result.missed.push(name)
    } catch (error) {
      result.failed.push(`${name}: ${String(error)}`)
    } finally {
      result.longestMs = Math.max(result.longestMs, performance.now() - startedMs)
      users -= 1
    }
  }
  const over = new AbortController()
  const creates: Promise<void>[] = []
  const createSteadily = async () => {
    while (!over.signal.aborted) {
      if (users < maxUsers) creates.push(create(`${prefix}-${creates.length}`))
      await sleep(1_000 / perSecond)
    }
  }
  const done = createSteadily()
  try {
    await act()
  } finally {
    over.abort()
    await done
    await Promise.all(creates)
  }
  return result
}

/** Waits until every Service that was created has an address, and checks that each has its own. */
export async function addressesOf(client: KubeClient, { created }: Pick<Creates, 'created'>): Promise<string[]> {
  const addresses = await eventually(
    'every Service has an address',
    async (observe) => {
      const stored = (await listAll(client, services)).filter(({ metadata }) => created.includes(metadata.name))
      const without = observe(
        stored.filter(({ spec }) => spec.loadBalancerIP === undefined).map((one) => one.metadata.name),
      )
      return without.length === 0 ? stored.map(({ spec }) => spec.loadBalancerIP ?? '') : undefined
    },
    // A killed process's calls count as in flight for twice the time-out.
    120_000,
  )
  assert.is(new Set(addresses).size, created.length, 'each Service has an address of its own')
  return addresses
}
