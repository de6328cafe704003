import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { KubeClient } from '../../kube/client.ts'
import { services } from '../../kube/resource.ts'
import { existingService } from '../../webhooks/claim-addresses.ts'
import { makeService } from '../builders.ts'
import { apiServer } from '../fakes/api-server.ts'
import { silentLog } from '../fakes/log.ts'

const key = 'default/web'
const ask = (client: Pick<KubeClient, 'get'>, isCached: boolean) =>
  existingService({ client, cached: () => (isCached ? makeService() : undefined), log: silentLog })(
    key,
    AbortSignal.timeout(5_000),
  )

test('a Service that the cache lacks does not exist, and one that it has may be gone', async () => {
  const api = apiServer()
  assert.equal([await ask(api.client, false), await ask(api.client, true)], [false, false])
  api.put(services, makeService())
  assert.is(await ask(api.client, true), true)
})

test('an API server that does not answer leaves it open, within the time that a review has', async () => {
  let askedMs: number | undefined
  const get = (_resource: unknown, _at: unknown, options?: { timeoutMs?: number }) => {
    askedMs = options?.timeoutMs
    return Promise.reject(new Error('time-out'))
  }
  assert.is(await ask({ get }, true), undefined)
  assert.ok((askedMs ?? Infinity) <= 2_000)
})

test.run()
