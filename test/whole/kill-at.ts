import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import type { ElasticIP } from '../../ledger/record/elastic-ip.ts'
import type { Product } from '../../sandbox/product.ts'
import { eventually } from './eventually.ts'
import type { WriteInterceptor, Write } from './write-interceptor.ts'
import type { Running, TestStage } from './test-stage.ts'

/**
 * When to kill the process: during a write, or during a call that the cloud never answers, whether it succeeds or not.
 */
export type Moment = { name: string } & ({ write: (write: Write) => boolean } | { call: string; done: boolean })

export const onRecord = ({ resource, subResource }: Write) => resource.resource === 'elasticips' && !subResource
export const onRecordStatus = ({ resource, subResource }: Write) =>
  resource.resource === 'elasticips' && subResource === 'status'
export const statusOf = ({ object }: Write) => (object as ElasticIP | null)?.status
export const enters = (phase: string) => (write: Write) => onRecordStatus(write) && statusOf(write)?.phase === phase
export const onService = ({ resource, userInfo }: Write) =>
  resource.resource === 'services' && userInfo.username.startsWith('system:serviceaccount:')
export const ingressOf = ({ object }: Write) => (object as Service | null)?.status?.loadBalancer?.ingress ?? []

export type KillDeps = { stage: TestStage; interceptor: WriteInterceptor; running: Running; product: Product }

/** Makes a function that kills the process at a moment that `begin` brings about, waits for its end and restarts it. */
export function processKiller(deps: KillDeps): (moment: Moment, begin: () => Promise<unknown>) => Promise<void> {
  const { stage, interceptor, running } = deps
  const { calls, faults } = stage.cloud.control
  let { product } = deps
  return async (moment, begin) => {
    const kill = () => product.signal('SIGKILL')
    if ('write' in moment) interceptor.onNextWrite(moment.write, kill)
    else faults.add({ on: moment.call, answer: 'hang', done: moment.done, times: 1 })
    const before = 'call' in moment ? calls.count(moment.call) : 0
    const begun = begin()
    if ('call' in moment) {
      await eventually(moment.name, () => calls.count(moment.call) > before || undefined)
      kill()
    }
    await eventually(`the process is killed when ${moment.name}`, () => !product.isRunning() || undefined)
    await begun
    faults.clear()
    assert.ok(interceptor.hasFired())
    product = await stage.start(running)
  }
}
