// A stage that helm installs, as `make sandbox INSTALL=helm` does: the arguments and the environment are those of the
// Deployment.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { loadBalancer } from './manifests.ts'
import { untilReviewed } from './reviewed.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage({ install: 'helm' })
const metro = { METAL_METRO_NAME: 'da' }
await stage.startSwept({ env: metro })
await untilReviewed(stage.client)

test('a Service gets its address from the product that the chart describes', async () => {
  const created = await stage.create(loadBalancer('web'))
  assert.match(created.spec.loadBalancerIP ?? '', /^\d+\./)
  assert.is(stage.reserved().length, 1)
})

test('helm knows the release, and the webhooks are at the URL of its values', async () => {
  assert.match(await stage.run('get', 'secret', '-n', 'eip-admission', '-o', 'name'), /sh\.helm\.release/)
  const url = '{.webhooks[0].clientConfig.url}'
  const found = await stage.run('get', 'mutatingwebhookconfiguration', 'zz-eip-admission', '-o', `jsonpath=${url}`)
  assert.match(found, /^https:\/\/127\.0\.0\.1:\d+\/[a-z0-9]{32}\/mutate-services$/)
})

test.after(() => stage.close())

test.run()
