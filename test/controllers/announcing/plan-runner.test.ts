import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ObjectChange, ChangePlan } from '../../../controllers/announcing/plan-changes.ts'
import { planRunner } from '../../../controllers/announcing/plan-runner.ts'

const signal = new AbortController().signal
const change = (name: string): ObjectChange => ({ remove: { apiVersion: 'v1', kind: 'Peer', metadata: { name } } })
const nameOf = (one: ObjectChange) => ('remove' in one ? one.remove : one.write.object).metadata.name

/** `begun` begins sessions, `broken` fails, `refused` is refused, `protected` stays; everything else is done. */
function running() {
  let nowMs = 0
  const done: string[] = []
  const { begin, carryOut } = planRunner({
    now: () => nowMs,
    async carryOut(one) {
      const name = nameOf(one)
      done.push(name)
      if (name === 'broken') throw new Error('the API server is down')
      await Promise.resolve()
      const isRefused = name === 'refused' || name === 'protected'
      const refused = name === 'refused' ? [{ subject: { node: 'a' }, message: 'no' }] : []
      const failure = name === 'protected' ? { failure: new Error('a policy protects it') } : {}
      return { refused, isRefused, isWrite: true, hasBegun: name === 'begun', ...failure }
    },
  })
  const pass = (ms: number) => void (nowMs += ms)
  const run = async (plan: Partial<ChangePlan>) => {
    done.length = 0
    const result = await carryOut({ first: [], waves: [], last: [], isHolding: false, ...plan }, signal)
    const { isUnfinished, failure } = result
    return { done: [...done], isUnfinished, ...(failure && { failure: failure.message }) }
  }
  return { begin, pass, run, done }
}

const wave = [[change('stray')], [change('new')]]
const last = [change('secret')]

test('a term that just began waits before its first wave: the leader before may have interrupted sessions', async () => {
  const { begin, pass, run } = running()
  pass(5000)
  begin()
  pass(1999)
  assert.equal(await run({ first: [[change('pool')]], waves: [wave], last }), { done: ['pool'], isUnfinished: true })
  pass(1)
  assert.equal(await run({ waves: [wave], last }), { done: ['stray', 'new', 'secret'], isUnfinished: false })
})

test('each wave waits after the one before, and what others need goes after the last one', async () => {
  const { pass, run } = running()
  pass(5000)
  assert.equal(await run({ waves: [wave, wave], last }), { done: ['stray', 'new'], isUnfinished: true })
  pass(1000)
  assert.equal(await run({ waves: [wave], last }), { done: [], isUnfinished: true })
  pass(1000)
  assert.equal(await run({ waves: [wave], last }), { done: ['stray', 'new', 'secret'], isUnfinished: false })
})

test('sessions that begin get time before others end, in the same pass too', async () => {
  const { pass, run } = running()
  pass(5000)
  assert.equal(await run({ first: [[change('begun')]], waves: [wave] }), { done: ['begun'], isUnfinished: true })
  pass(2000)
  assert.equal((await run({ waves: [wave] })).done, ['stray', 'new'])
})

test('a pass without a wave delays none', async () => {
  const { pass, run } = running()
  pass(5000)
  assert.equal(await run({ first: [[change('pool')]] }), { done: ['pool'], isUnfinished: false })
  assert.equal((await run({ waves: [wave] })).done, ['stray', 'new'])
})

test('a change that is refused again and again does not keep others from their turn', async () => {
  const { pass, run } = running()
  const waves = [[[change('refused')]], [[change('other')]]]
  pass(5000)
  assert.equal(await run({ waves }), { done: ['refused'], isUnfinished: true })
  pass(2000)
  assert.equal((await run({ waves })).done, ['other'])
})

test('an object that may not be removed stops only what its removal must precede', async () => {
  const { pass, run } = running()
  const failure = 'a policy protects it'
  pass(5000)
  const first = [[change('protected'), change('stray')], [change('new')]]
  assert.equal(await run({ first, last }), { done: ['protected', 'stray', 'new'], isUnfinished: false, failure })
  const waves = [[[change('protected')], [change('excluded by it')]], [[change('other')]]]
  assert.equal(await run({ waves }), { done: ['protected'], isUnfinished: true, failure })
  pass(2000)
  assert.equal((await run({ waves })).done, ['other'], 'and no other wave')
})

test('a removal that waits for other sessions needs what goes last, and no pass soon', async () => {
  const { run } = running()
  assert.equal(await run({ last, isHolding: true }), { done: [], isUnfinished: false })
})

test('without a wave nothing waits', async () => {
  const { run } = running()
  assert.equal(await run({ first: [[change('begun')]], last }), { done: ['begun', 'secret'], isUnfinished: false })
})

test('a wave that fails half-way counts as one', async () => {
  const { pass, run, done } = running()
  pass(5000)
  const failed = await run({ waves: [[[change('broken')], [change('new')]]] }).catch((error: Error) => error.message)
  assert.is(failed, 'the API server is down')
  assert.equal(done, ['broken'])
  assert.equal(await run({ waves: [wave] }), { done: [], isUnfinished: true })
})

test('after a failure the sessions that began get their time too', async () => {
  const { pass, run } = running()
  pass(5000)
  const failed = await run({ first: [[change('begun'), change('broken')]], waves: [wave] }).catch(String)
  assert.is(failed, 'Error: the API server is down')
  pass(1999)
  assert.equal(await run({ waves: [wave] }), { done: [], isUnfinished: true })
  pass(1)
  assert.equal((await run({ waves: [wave] })).done, ['stray', 'new'])
})

test.run()
