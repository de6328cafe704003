// Edits of a stored Service that still waits for its address.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { finalizer, loadBalancer, reclaim, shown } from '../whole/manifests.ts'
import { dialect, openStage, routes } from './dialect.ts'

const stage = await openStage()
const { calls, faults, quota } = stage.cloud.control
// Without controllers, only admission calls the cloud.
await (await stage.startSwept({ env: dialect.here })).stop()
await stage.create(loadBalancer('waiting'))
const product = await stage.start({ env: dialect.here, flags: ['--only=webhooks'] })
const patch = (change: object, ...more: string[]) =>
  stage.kubectl(['patch', 'service', 'waiting', '--type=merge', '-p', JSON.stringify(change), ...more])

test('at quota 0 an edit of other fields passes, and a request for an address is refused', async () => {
  quota.set(0)
  calls.clear()
  for (const change of [
    { metadata: { labels: { team: 'a' } } },
    { metadata: { annotations: { note: 'b' } } },
    { spec: { ports: [{ port: 81 }] } },
  ]) {
    for (const more of [[], ['--dry-run=server']]) {
      const { code, stderr } = await patch(change, ...more)
      assert.equal([code, stderr], [0, ''])
    }
  }
  assert.is(stage.calls(routes.reserve), 0)
  const { code, stderr } = await patch({ metadata: { annotations: { [reclaim]: 'Retain' } } })
  assert.is(code, 1)
  assert.match(stderr, dialect.words.quota)
  quota.set(100)
})

test('an edit that drops the finalizer gets it back, and one that writes our annotation gets no forged address', async () => {
  await patch({ metadata: { finalizers: null } })
  assert.equal((await stage.service('waiting'))?.metadata.finalizers, [finalizer])
  const forged = { metadata: { annotations: { [shown]: '192.0.2.1' } }, spec: { loadBalancerIP: '192.0.2.1' } }
  await patch(forged)
  const { spec } = (await stage.service('waiting')) ?? {}
  assert.not.equal(spec?.loadBalancerIP, '192.0.2.1')
})

test('while an answer is lost an edit of other fields does not wait for it', async () => {
  faults.add({ on: routes.reserve, answer: 'reset', done: true })
  faults.add({ on: routes.list, answer: 500 })
  await stage.create(loadBalancer('lost'))
  calls.clear()
  const change = JSON.stringify({ metadata: { labels: { team: 'a' } } })
  const { code, stderr } = await stage.kubectl(['patch', 'service', 'lost', '--type=merge', '-p', change])
  // An edit that claims the address finds its record in use, and warns.
  assert.equal([code, stderr, stage.calls(routes.reserve)], [0, '', 0])
  faults.clear()
})

test.after(() => product.stop().then(() => stage.close()))

test.run()
