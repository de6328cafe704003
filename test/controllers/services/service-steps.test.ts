import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ServiceEvent } from '../../../controllers/services/service-condition.ts'
import { serviceSteps } from '../../../controllers/services/service-steps.ts'
import { services } from '../../../kube/resource.ts'
import { addressCondition, serviceFinalizer, upstreamFinalizer } from '../../../ledger/record/names.ts'
import { makeService } from '../../builders.ts'
import { apiServer } from '../../fakes/api-server.ts'

for (const [former, missed] of [
  [[], 1],
  [['example.com/other'], 1],
  [[upstreamFinalizer], 0],
] as const)
  test(`a Service with ${former.join() || 'no finalizer'} was ${missed ? '' : 'not '}missed by admission`, async () => {
    const api = apiServer()
    const service = api.put(services, makeService({ finalizers: [...former] }))
    let count = 0
    const deps = { client: api.client, onMissedByAdmission: () => void (count += 1) }
    const carryOut = serviceSteps(deps as unknown as Parameters<typeof serviceSteps>[0])
    await carryOut({ do: 'add-finalizer' }, { key: 'default/web', service }, AbortSignal.timeout(5_000))
    assert.is(count, missed)
    assert.equal(api.stored(services)[0]?.metadata.finalizers, [...former, serviceFinalizer])
  })

const shown = (ip: string) => ({ loadBalancer: { ingress: [{ ip }] } })
const addressShown = { status: 'True', reason: 'AddressShown', message: 'The status shows 203.0.113.7' } as const

for (const isShared of [false, true])
  test(`${isShared ? 'Two addresses' : 'An address'} and the condition are one write, and conditions of others stay`, async () => {
    const api = apiServer()
    const others = {
      type: 'example.com/Other',
      status: 'True',
      reason: 'Is',
      message: '',
      lastTransitionTime: '',
    } as const
    const service = api.put(services, makeService({ status: { ...shown('203.0.113.9'), conditions: [others] } }))
    const told: string[] = []
    const deps = {
      client: api.client,
      now: () => new Date(0),
      event: (_service: unknown, { reason, message }: ServiceEvent) => told.push(`${reason}: ${message}`),
    }
    const carryOut = serviceSteps(deps as unknown as Parameters<typeof serviceSteps>[0])
    const request = { annotations: {}, status: shown('203.0.113.7') }
    const step = { do: 'announce', request, condition: addressShown, ...(isShared && { isShared }) } as const
    await carryOut(step, { key: 'default/web', service }, AbortSignal.timeout(5_000))
    const ours = { ...addressShown, type: addressCondition, lastTransitionTime: '1970-01-01T00:00:00Z' }
    assert.equal(api.stored(services)[0]?.status, { ...shown('203.0.113.7'), conditions: [others, ours] })
    assert.is(api.writes.length, 1)
    assert.equal(told, ['EnsuredLoadBalancer: Ensured load balancer: 203.0.113.7'])
  })

test.run()
