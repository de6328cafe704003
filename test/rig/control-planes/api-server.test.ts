// The control-plane address as its users see it, when the API server behind it fails in every way that we know.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { guardControlPlanes } from './guarded.ts'

const planes = await guardControlPlanes()
test.after(() => planes.close())

/** The goals at the defaults, which the bench measures, plus the delay of two busy processors. */
const goalMs = { refuses: 3000, hangs: 10_000, gone: 8000 }
const loadMs = 20_000

planes.test('an API server that ends is left at once', async () => {
  await planes.rest()
  const holder = planes.holder()
  const { holders, loss } = await planes.after(() => holder.program('apiServer').end())
  assert.is(holders.length, 1)
  assert.ok(loss.longestGapMs < goalMs.refuses + loadMs, `${loss.longestGapMs} ms without an answer`)
  await holder.program('apiServer').start()
})

planes.test('an API server that hangs is left', async () => {
  await planes.rest()
  const holder = planes.holder()
  const { holders, loss } = await planes.after(async () => holder.program('apiServer').pause())
  assert.is(holders.length, 1)
  assert.ok(loss.longestGapMs < goalMs.hangs + loadMs, `${loss.longestGapMs} ms without an answer`)
  holder.program('apiServer').resume()
})

planes.test('an API server without its etcd is left, although it still answers', async () => {
  await planes.rest()
  const holder = planes.holder()
  const { holders, loss } = await planes.after(() => holder.program('etcd').end())
  assert.is(holders.length, 1)
  assert.ok(loss.longestGapMs < goalMs.hangs + loadMs, `${loss.longestGapMs} ms without an answer`)
  await holder.program('etcd').start()
})

planes.test('a machine that loses its link is left', async () => {
  await planes.rest()
  const holder = planes.holder()
  const { holders, loss } = await planes.after(() => holder.linkDown())
  assert.is(holders.length, 1)
  assert.ok(loss.longestGapMs < goalMs.hangs + loadMs, `${loss.longestGapMs} ms without an answer`)
  await holder.linkUp()
})

planes.test('a machine that no longer exists with the lease and the address is left', async () => {
  await planes.rest()
  const leader = await planes.leader()
  await planes.cloud.assign(leader.name)
  await planes.client.untilAnswered(5, 60_000)
  const { holders, loss } = await planes.after(() => leader.gone())
  assert.is(holders.length, 1)
  assert.ok(loss.longestGapMs < goalMs.gone + loadMs, `${loss.longestGapMs} ms without an answer`)
  await leader.back()
  await planes.rest()
  assert.is.not(planes.holder().name, leader.name, 'nothing moves back automatically')
})

test.run()
