// A cloud in trouble, and people at its console, while the control-plane address must move. This is on Equinix Metal,
// where a move takes two writes.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Machine } from '../../../sandbox/control-planes/machine.ts'
import { guardControlPlanes } from './guarded.ts'

const planes = await guardControlPlanes({ clientTimeoutMs: 3_000 })
test.after(() => planes.close())

const { faults, calls } = planes.cloud.control
const [detach = '', assign = ''] = planes.cloud.writes

/** Ends the API server of the holder, and starts it again when the address answers elsewhere. */
async function failOver(withinMs: number, during: () => Promise<unknown> = async () => undefined) {
  const holder = planes.holder()
  const outcome = await planes.after(
    async () => {
      await holder.program('apiServer').end()
      await during()
    },
    { withinMs },
  )
  await holder.program('apiServer').start()
  return outcome
}

planes.test('a cloud that takes 2 s for a call moves the address once', async () => {
  await planes.rest()
  // The write succeeds at once, but its answer takes longer than a guardian waits.
  faults.add({ answer: 'slow', done: true, ms: 2000 })
  const { holders } = await failOver(60_000)
  faults.clear()
  assert.is(holders.length, 1)
})

planes.test('a cloud that fails for 10 s moves the address when it answers again', async () => {
  await planes.rest()
  faults.add({ answer: 503 })
  const { holders } = await failOver(90_000, async () => {
    await sleep(10_000)
    faults.clear()
  })
  assert.is(holders.length, 1)
})

for (const write of [detach, assign]) {
  planes.test(`a lost answer to ${write} does not repeat what was done`, async () => {
    await planes.rest()
    calls.clear()
    faults.add({ on: write, answer: 'reset', done: true, times: 1 })
    const { holders } = await failOver(60_000)
    assert.is(holders.length, 1)
    assert.is(calls.count(assign), 1)
  })
}

planes.test(
  'a guardian that is killed between the two writes leaves the address nowhere, and another assigns it',
  async () => {
    await planes.rest()
    const holder = planes.holder()
    faults.add({ on: assign, answer: 'hang' })
    calls.clear()
    let killed: Machine | undefined
    const { holders } = await planes.after(async () => {
      await holder.program('apiServer').end()
      while (calls.count(assign) === 0) await sleep(10)
      killed = planes.machine(calls.all(assign)[0]?.caller ?? 'nobody')
      await killed.program('guardian').end()
      faults.clear()
      assert.equal(planes.cloud.holders(), [], 'the address is assigned to nobody')
    })
    assert.is(holders.length, 1)
    await holder.program('apiServer').start()
    await killed?.program('guardian').start()
  },
)

planes.test('an address that a person moves at the console stays there', async () => {
  await planes.rest()
  const other = planes.machines.find(({ name }) => name !== planes.holder().name)
  const { holders, loss } = await planes.after(() => planes.cloud.assign(other?.name), { quietMs: 5000 })
  assert.equal(holders, [other?.name])
  assert.is(loss.lost, 0)
})

test.run()
