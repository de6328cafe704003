// The invariants of a takeover and its way back, whether by a person or by the commands.
import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import type { Product } from '../../../sandbox/product.ts'
import { eventually } from '../../whole/eventually.ts'
import { routes } from '../../whole/test-stage.ts'
import { type Scene, atRest, checkQuiet, checkWays, isAnnounced, objectNames, seen } from './scene.ts'

export type Way = {
  /** From theirs to ours. */
  there: (scene: Scene) => Promise<Product>
  /** From ours, which the walk has not stopped, to theirs. */
  back: (scene: Scene, product: Product) => Promise<void>
}

/** Goes there and back once or twice, with Services that come and go under both. */
export async function walk(scene: Scene, { there, back }: Way, rounds: 1 | 2): Promise<void> {
  for (let round = 1; round <= rounds; round += 1) {
    const objects = await objectNames(scene)
    const product = await quietly(scene, () => there(scene))
    assert.equal(await objectNames(scene), objects)

    const over = round === 1 ? 'api' : 'new-1'
    const kept = [...scene.addresses.keys()].filter((name) => name !== over)
    const sinceMs = Date.now()
    await scene.addService(`new-${round}`)
    await isAnnounced(scene)
    await scene.deleteService(over)
    await isAnnounced(scene)
    await checkWays(scene, { sinceMs, kept })

    await quietly(scene, () => backAgain(scene, () => back(scene, product)))

    const [first = ''] = scene.addresses.keys()
    await leavesAlone(scene, first)
    await listsNoDeleted(scene)
    await scene.addService(first)
    await atRest(scene)
  }
}

/** Waits until the cloud lists no deleted reservation: a predecessor would adopt one with its Service's tags. */
async function listsNoDeleted({ cloud: { control } }: Scene): Promise<void> {
  await eventually(
    'the provider lists no deleted reservation',
    () => control.reservations.deleting().length === 0 || undefined,
  )
}

/** Deletes a Service: only its own address is released, and the others stay announced. */
export async function leavesAlone(scene: Scene, name: string): Promise<void> {
  scene.cloud.control.calls.clear()
  await scene.deleteService(name)
  assert.is(scene.calls(routes.release), 1)
  await isAnnounced(scene)
}

/**
 * Checks that during `act` nothing is bought, released or deleted, and that no address of the given Services, or of
 * all, is without a route.
 */
export async function quietly<T>(
  scene: Scene,
  act: () => Promise<T>,
  kept: readonly string[] = [...scene.addresses.keys()],
): Promise<T> {
  const before = await seen(scene)
  scene.cloud.control.calls.clear()
  const sinceMs = Date.now()
  const result = await act()
  await isAnnounced(scene)
  await checkQuiet(scene, before)
  await checkWays(scene, { sinceMs, kept })
  return result
}

/** Runs `act`, and waits until the predecessor has then reconciled every Service. */
export async function backAgain(scene: Scene, act: () => Promise<void>): Promise<void> {
  const { logFile } = scene.predecessor
  const before = syncs(logFile)
  await act()
  const wanted = before + scene.addresses.size
  await eventually('it has looked at every Service', () => syncs(logFile) >= wanted || undefined, 90_000)
}

/** How many Services it has reconciled, by the log of the stand-in or of the real program. */
function syncs(log: string): number {
  return readFileSync(log, 'utf8').match(/synced service |EnsureLoadBalancer\(\): add/g)?.length ?? 0
}
