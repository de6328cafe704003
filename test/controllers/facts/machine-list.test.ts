import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { machineList } from '../../../controllers/dependencies.ts'
import { fakeMachines, makeMachine } from '../nodes/builders.ts'

const { signal } = new AbortController()

function makeList() {
  const time = { ms: 0 }
  const { cloud, port } = fakeMachines(makeMachine())
  return { time, cloud, list: machineList({ machines: port, now: () => time.ms }) }
}

test('anyone who asks at the same time, or a little later, gets the same list', async () => {
  const { list, cloud, time } = makeList()
  assert.is(list.latest(), undefined)
  await Promise.all(Array.from({ length: 50 }, () => list.within(0, signal)))
  time.ms = 10_000
  await list.within(10_000, signal)
  assert.equal([cloud.asked, list.latest()?.length], [['list'], 1])
  time.ms = 10_001
  await list.within(10_000, signal)
  assert.is(cloud.asked.length, 2)
})

test('a failure is shared too, but not for long, and what was known stays known', async () => {
  const { list, cloud, time } = makeList()
  await list.within(0, signal)
  time.ms = 60_000
  cloud.trouble = new Error('down')
  const asked = await Promise.allSettled([list.within(10_000, signal), list.within(10_000, signal)])
  time.ms = 61_000
  asked.push(...(await Promise.allSettled([list.within(10_000, signal)])))
  assert.ok(asked.every(({ status }) => status === 'rejected'))
  assert.equal([cloud.asked.length, list.latest()?.length], [2, 1])
  cloud.trouble = undefined
  time.ms = 62_001
  assert.is((await list.within(10_000, signal)).length, 1)
})

test.run()
