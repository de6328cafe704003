import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { serviceSteps } from '../../../controllers/services/service-steps.ts'
import { services } from '../../../kube/resource.ts'
import { serviceFinalizer, upstreamFinalizer } from '../../../ledger/record/names.ts'
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

test.run()
