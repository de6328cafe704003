import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { patch, patchSharedStatus, patchStatus } from '../../../controllers/services/patch-service.ts'
import { isConflict } from '../../../kube/errors.ts'
import { services } from '../../../kube/resource.ts'
import { makeService } from '../../builders.ts'
import { apiServer } from '../../fakes/api-server.ts'

const ours = 'eip-admission.dev/address-cleanup'
const theirs = 'example.com/theirs'
const shown = (...ips: string[]) => ({ loadBalancer: { ingress: ips.map((ip) => ({ ip })) } })

/** A Service as a step was planned for it, the Service as somebody else has changed it since, and its API server. */
function changedSince(change: Parameters<typeof makeService>[0]) {
  const api = apiServer()
  const planned = api.put(services, makeService({ finalizers: [ours] }))
  api.put(services, makeService({ finalizers: [ours], ...change }))
  return { api, client: api.client, planned, now: () => api.stored(services)[0] }
}

async function isRefused(write: Promise<undefined>): Promise<boolean> {
  return write.then(
    () => false,
    (error: unknown) => isConflict(error),
  )
}

test('a step that was planned before another controller added its finalizer changes nothing', async () => {
  const { client, planned, now } = changedSince({ finalizers: [ours, theirs] })
  for (const change of [{ metadata: { finalizers: [] } }, { spec: { loadBalancerIP: '203.0.113.40' } }]) {
    assert.ok(await isRefused(patch(client, planned, change)), JSON.stringify(change))
    assert.equal([now()?.metadata.finalizers, now()?.spec.loadBalancerIP], [[ours, theirs], undefined])
  }
})

test('of two addresses that two controllers show at once none is lost', async () => {
  const { client, planned, now } = changedSince({ status: shown('203.0.113.40') })
  assert.ok(await isRefused(patchSharedStatus(client, planned, shown('2001:db8::40'))))
  assert.equal(now()?.status, shown('203.0.113.40'))
})

test('a status that we alone write is written whatever else of the Service has changed', async () => {
  const { client, planned, now } = changedSince({ finalizers: [ours, theirs] })
  await patchStatus(client, planned, shown('203.0.113.40'))
  assert.equal([now()?.status, now()?.metadata.finalizers], [shown('203.0.113.40'), [ours, theirs]])
})

test('a late write of a status does not reach a later Service of the name', async () => {
  const { client, planned, now } = changedSince({ uid: 'later', status: shown('203.0.113.40') })
  assert.ok(await isRefused(patchStatus(client, planned, { loadBalancer: { ingress: null } })))
  assert.equal(now()?.status, shown('203.0.113.40'))
})

test('a Service that no longer exists needs no change', async () => {
  const { api, client, planned } = changedSince({})
  api.drop(services, { namespace: 'default', name: 'web' })
  await patch(client, planned, { metadata: { finalizers: [] } })
  await patchSharedStatus(client, planned, shown('203.0.113.40'))
})

test.run()
