import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { patchStatus } from '../../../controllers/services/patch-service.ts'
import { KubeError } from '../../../kube/errors.ts'
import { services } from '../../../kube/resource.ts'
import { makeService } from '../../builders.ts'
import { apiServer } from '../../fakes/api-server.ts'

test('a late write of a status does not reach a later Service of that name', async () => {
  const api = apiServer()
  api.put(services, makeService({ uid: 'later' }))
  const write = patchStatus(api.client, makeService({ uid: 'earlier' }), { loadBalancer: { ingress: null } })
  await write.then(
    () => assert.unreachable('the API server accepts it'),
    (error: unknown) => assert.instance(error, KubeError),
  )
  assert.equal(api.stored(services)[0]?.status, makeService().status)
})

test.run()
