import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError } from '../../../clouds/ports/cloud.ts'
import { KubeError } from '../../../kube/errors.ts'
import { failures } from '../../../ledger/sweep/failures.ts'

const inUse = new CloudError('reservation res-1 is in use', { fault: 'conflict', outcome: 'nothing' })
const conflict = new KubeError('ElasticIP releasing-1: conflict', { status: 409, reason: 'Conflict' })

test('errors of single objects are thrown together at the end, with every reason in the message', async () => {
  const failed = failures('sweep')
  for (const error of [inUse, conflict]) await failed.isolate(() => Promise.reject(error))
  try {
    failed.throwAny()
    assert.unreachable('nothing was thrown')
  } catch (error) {
    assert.instance(error, AggregateError)
    assert.equal((error as AggregateError).errors, [inUse, conflict])
    assert.is((error as Error).message, 'sweep: reservation res-1 is in use; ElasticIP releasing-1: conflict')
  }
})

test('an error that concerns more than one object is thrown at once', async () => {
  const failed = failures('sweep')
  const unavailable = new CloudError('the provider is away', { fault: 'unavailable', outcome: 'nothing' })
  const [work] = await Promise.allSettled([failed.isolate(() => Promise.reject(unavailable))])
  assert.is(work.status === 'rejected' && work.reason, unavailable)
  failed.throwAny()
})

test('without errors nothing is thrown', async () => {
  const failed = failures('sweep')
  await failed.isolate(() => Promise.resolve())
  failed.throwAny()
})

test.run()
