// Guardians that are cut off, frozen or replaced, and machines that shut down gracefully.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from '../../whole/eventually.ts'
import { guardControlPlanes } from './guarded.ts'

// Only the holder has the address, so every other guardian can probe through it.
const planes = await guardControlPlanes({ alias: 'while-assigned', clientTimeoutMs: 3_000 })
test.after(() => planes.close())

const { calls, faults } = planes.cloud.control
const [, assign = ''] = planes.cloud.writes

/** Runs kubectl at a machine that does not have the address. */
async function kubectl(...args: string[]): Promise<void> {
  const other = planes.machines.find(({ name }) => name !== planes.holder().name)
  assert.ok(other)
  const { code, stderr } = await planes.kubectlAt(other)(args)
  assert.is(code, 0, stderr)
}

planes.test('a node that is cordoned gives the address away, and no user who tries twice notices', async () => {
  await planes.rest()
  const holder = planes.holder()
  const { holders, loss } = await planes.after(async () => {
    await kubectl('cordon', holder.name)
    await planes.left(holder)
  })
  assert.is(holders.length, 1)
  assert.is(loss.lost, 0, JSON.stringify(loss))
  await kubectl('uncordon', holder.name)
  await sleep(3000)
  assert.is.not(planes.holder().name, holder.name, 'nothing moves back automatically')
})

planes.test('an address that a person takes from its machine is missed, and goes back to its holder', async () => {
  await planes.rest()
  const holder = planes.holder()
  const { holders } = await planes.after(() => planes.cloud.assign(undefined), { withinMs: 180_000 })
  assert.equal(holders, [holder.name])
})

planes.test('two guardians that cannot reach each other move the address once at most', async () => {
  await planes.rest()
  const [one, other] = [await planes.leader(), planes.holder()]
  const third = planes.machines.find(({ name }) => name !== one.name)
  const to = one.name === other.name ? (third?.name ?? '') : other.name
  const { holders } = await planes.after(
    async () => {
      await planes.network.setPartition(one.name, to, 'cut')
      await sleep(8000)
      await planes.network.setPartition(one.name, to, 'whole')
    },
    { withinMs: 90_000 },
  )
  assert.ok(holders.length <= 1, `the address went to ${holders.join(', ')}`)
})

planes.test('a guardian that was frozen for longer than its lease writes nothing when it continues', async () => {
  await planes.rest()
  const holder = planes.holder()
  calls.clear()
  // The guardian is frozen in the middle of a move, between the two writes.
  faults.add({ on: assign, answer: 'hang' })
  const { holders } = await planes.after(async () => {
    await holder.program('apiServer').end()
    while (calls.count(assign) === 0) await sleep(10)
    const frozen = planes.machine(calls.all(assign)[0]?.caller ?? 'nobody')
    frozen.program('guardian').pause()
    faults.clear()
    await eventually('another guardian has the lease, and assigns the address', () => {
      return calls.all(assign).some(({ caller }) => caller !== frozen.name) || undefined
    })
    frozen.program('guardian').resume()
  })
  assert.is(holders.length, 1)
  const writers = calls.all(assign).map(({ caller }) => caller)
  const sinceAnother = writers.slice(writers.findIndex((caller) => caller !== writers[0]))
  assert.is(sinceAnother.length, 1, writers.join())
  await holder.program('apiServer').start()
})

planes.test('a rolling upgrade of all three loses little', async () => {
  await planes.rest()
  const { loss } = await planes.after(
    async () => {
      for (const machine of planes.machines) {
        await kubectl('cordon', machine.name)
        await planes.left(machine)
        await machine.program('guardian').end('SIGTERM')
        await machine.program('apiServer').end()
        await machine.program('apiServer').start()
        await machine.program('guardian').start()
        await kubectl('uncordon', machine.name)
        await planes.rest()
      }
    },
    { withinMs: 90_000 },
  )
  assert.is(loss.lost, 0, JSON.stringify(loss))
})

test.run()
