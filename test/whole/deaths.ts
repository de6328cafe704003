import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import type { ElasticIP } from '../../ledger/record/elastic-ip.ts'
import type { Product } from '../../sandbox/product.ts'
import { eventually } from './eventually.ts'
import type { Tripwire, Write } from './tripwire.ts'
import type { Running, World } from './world.ts'

/** A moment to die at: a write on its way into the store, or a call that the cloud carried out, or not, and never answers. */
export type Moment = { name: string } & ({ write: (write: Write) => boolean } | { call: string; done: boolean })

export const onRecord = ({ resource, subResource }: Write) => resource.resource === 'elasticips' && !subResource
export const onRecordStatus = ({ resource, subResource }: Write) =>
  resource.resource === 'elasticips' && subResource === 'status'
export const statusOf = ({ object }: Write) => (object as ElasticIP | null)?.status
export const enters = (phase: string) => (write: Write) => onRecordStatus(write) && statusOf(write)?.phase === phase
export const onService = ({ resource, userInfo }: Write) =>
  resource.resource === 'services' && userInfo.username.startsWith('system:serviceaccount:')
export const ingressOf = ({ object }: Write) => (object as Service | null)?.status?.loadBalancer?.ingress ?? []

export type Dying = { world: World; tripwire: Tripwire; running: Running; product: Product }

/** Lets the process die at a moment that `begin` brings about, and starts it again, as often as a test wants. */
export function deaths(of: Dying): (moment: Moment, begin: () => Promise<unknown>) => Promise<void> {
  const { world, tripwire, running } = of
  const { calls, faults } = world.cloud.door
  let { product } = of
  return async (moment, begin) => {
    const kill = () => product.signal('SIGKILL')
    if ('write' in moment) tripwire.arm(moment.write, kill)
    else faults.add({ on: moment.call, answer: 'hang', done: moment.done, times: 1 })
    const before = 'call' in moment ? calls.count(moment.call) : 0
    const begun = begin()
    if ('call' in moment) {
      await eventually(moment.name, () => calls.count(moment.call) > before || undefined)
      kill()
    }
    await eventually(`the process dies when ${moment.name}`, () => !product.isRunning() || undefined)
    await begun
    faults.clear()
    assert.ok(tripwire.sprung())
    product = await world.start(running)
  }
}
