// API servers that answer slowly or badly: which of them keep the address, and which lose it. This is on Cherry
// Servers.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Machine } from '../../../sandbox/control-planes/machine.ts'
import { guardControlPlanes } from './guarded.ts'

const planes = await guardControlPlanes({
  cloud: 'cherry-servers',
  proxies: ['control-0', 'control-1', 'control-2'],
})
test.after(() => planes.close())

planes.test('an API server that takes 2 s for each answer keeps the address', async () => {
  await planes.rest()
  const holder = planes.holder()
  const { holders, loss } = await planes.after(
    async () => {
      await holder.answer({ delayMs: 2000 })
      await sleep(15_000)
    },
    { answering: () => holder.answer({}) },
  )
  assert.equal(holders, [], 'a slow API server is better than a move')
  // The rig's client waits only 1 s, so this shows that the answers were slow.
  assert.ok(loss.longestGapMs > 14_000)
})

planes.test('while every API server is bad nothing moves; when one is good again the address goes there', async () => {
  await planes.rest()
  const holder = planes.holder()
  const [other] = planes.machines.filter(({ name }) => name !== holder.name)
  assert.ok(other)
  const { holders } = await planes.after(async () => {
    await answerAll({ status: 500 })
    await sleep(10_000)
    assert.is(planes.holder().name, holder.name, 'nowhere is better')
    await other.answer({})
  })
  assert.equal(holders, [other.name])
  await answerAll({})
})

async function answerAll(as: { status?: number }): Promise<void> {
  // The holder comes last: otherwise the address would move to a machine that is still healthy.
  const isHolder = ({ name }: Machine) => name === planes.holder().name
  const others = planes.machines.filter((machine) => !isHolder(machine))
  for (const machine of [...others, ...planes.machines.filter(isHolder)]) await machine.answer(as)
}

test.run()
