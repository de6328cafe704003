import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcements, Problem } from '../../../announcers/announcer.ts'
import { announcing, announcingKey } from '../../../controllers/announcing/announcing.ts'
import type { Configured } from '../../../controllers/announcing/configurator.ts'

const signal = new AbortController().signal
const address = '203.0.113.40'
const shown: Announcements = { addresses: [{ address, services: ['default/web'] }], nodes: [] }
const settled: Configured = { problems: [], isChanged: false, isRefused: false }
const nothing: Announcements = { addresses: [], nodes: [] }

function scene(answer: () => Promise<Configured> = () => Promise.resolve(settled)) {
  const told: Problem[] = []
  const world = { state: shown, written: nothing }
  const reconciler = announcing({
    state: () => world.state,
    complain: (problem) => told.push(problem),
    resyncMs: 60_000,
    configurator: {
      async carryOut(state) {
        const configured = await answer()
        world.written = state
        return configured
      },
      announces: (asked) => Promise.resolve(world.written.addresses.some((one) => one.address === asked)),
    },
  })
  return {
    world,
    told,
    pass: () => reconciler.reconcile(announcingKey, signal),
    holds: () => reconciler.holds(address, signal),
  }
}

test('an address is held while our copies say so, and while it is written', async () => {
  const { world, pass, holds } = scene()
  assert.equal(await holds(), { services: ['default/web'] })
  await pass()
  world.state = nothing
  assert.equal(await holds(), { services: [] }, 'not taken back yet')
  await pass()
  assert.is(await holds(), undefined)
})

test('an address is held while a pass is under way that began when it was still shown', async () => {
  let finish: (configured: Configured) => void = () => undefined
  const { world, pass, holds } = scene(() => new Promise((resolve) => (finish = resolve)))
  const running = pass()
  world.state = nothing
  assert.equal(await holds(), { services: [] })
  finish({ ...settled, isChanged: true })
  await running
  assert.equal(await holds(), { services: [] }, 'that pass has written it')
})

test('a failed pass holds nothing by itself', async () => {
  const { world, pass, holds } = scene(() => Promise.reject(new Error('no API server')))
  await pass().catch(() => undefined)
  world.state = nothing
  assert.is(await holds(), undefined)
})

test('a problem is told once, and again when it was away', async () => {
  const problem = { subject: { service: 'default/web' }, message: 'refused: [wrong name, wrong port]' }
  const otherwise = { ...problem, message: 'refused: [wrong port, wrong name]' }
  const answers = [[problem], [otherwise], [], [problem]]
  const { pass, told } = scene(() => Promise.resolve({ ...settled, problems: answers.shift() ?? [] }))
  for (const counted of [1, 1, 1, 2]) {
    await pass()
    assert.is(told.length, counted)
  }
})

test('what was written is looked at again soon, for what the software thinks of it', async () => {
  const changes = [true, false]
  const { pass } = scene(() => Promise.resolve({ ...settled, isChanged: changes.shift() ?? false }))
  assert.equal(await pass(), { againInMs: 2_000 })
  assert.equal(await pass(), { againInMs: 60_000 })
})

test('what was refused is tried again in a while, and not as if it were written', async () => {
  const { pass } = scene(() => Promise.resolve({ ...settled, isRefused: true }))
  assert.equal(await pass(), { againInMs: 10_000 })
})

test.run()
