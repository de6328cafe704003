// Which answers of the cloud count, beside our own changes.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { cloudView } from '../../../controllers/assigning/cloud-view.ts'
import { fakeClock } from '../../kube/fake-clock.ts'

const at = (...machines: string[]) => ({
  id: 'r1',
  address: '203.0.113.1',
  machines,
  tags: [],
  marks: {},
  foreign: undefined,
})

function scene() {
  const clock = fakeClock()
  const view = cloudView(clock)
  const asked = () => ({ id: 'r1', askedAtMs: clock.now() })
  return { clock, view, asked, answer: (...machines: string[]) => view.answered(at(...machines), asked()) }
}

test('the age of an answer counts from the answer, not from the question', () => {
  const { clock, view, asked } = scene()
  const question = asked()
  clock.freeze(15_000)
  view.answered(at('A'), question)
  assert.equal([view.answeredAtMs(), view.isKnown('r1')], [clock.now(), true])
})

test('an answer to a question from before the end of a change proves nothing', async () => {
  const { clock, view, asked, answer } = scene()
  answer('A')
  const question = asked()
  clock.freeze(1)
  await view.change(async () => {
    assert.is(answer('C'), false, 'a change is under way')
    return { machines: ['B'] }
  })
  assert.is(view.answered(at('A'), question), false)
  assert.equal(view.machines(), ['B'])
})

test('soon after a move an answer without any machine proves nothing, and it is asked again', async () => {
  const { clock, view, answer } = scene()
  answer('A')
  await view.change(async () => ({ machines: ['B'] }))
  clock.freeze(1_000)
  assert.is(answer(), true, 'it is due')
  assert.equal([view.machines(), view.isKnown('r1')], [['B'], false])
  clock.freeze(10_000)
  answer()
  assert.equal([view.machines(), view.isKnown('r1')], [[], true])
})

test('an address that we take from its machine soon after a move is believed to be at none', async () => {
  const { view, answer, clock } = scene()
  answer('A')
  await view.change(async () => ({ machines: ['B'] }))
  await view.change(async () => 'unclear')
  clock.freeze(1_000)
  answer()
  assert.equal([view.machines(), view.isKnown('r1')], [[], true])
})

test('soon after a move an answer with another machine counts: a person has moved it', async () => {
  const { view, answer } = scene()
  answer('A')
  await view.change(async () => ({ machines: ['B'] }))
  answer('C')
  assert.equal(view.machines(), ['C'])
})

test('after a change without a clear result nothing is known, and what was not changed stays known', async () => {
  const { view, answer } = scene()
  answer('A')
  await view.change(async () => 'unchanged')
  assert.is(view.isKnown('r1'), true)
  await view.change(async () => 'unclear')
  assert.is(view.isKnown('r1'), false)
  await view.change(() => Promise.reject(new Error('broken'))).catch(() => undefined)
  assert.equal([view.isKnown('r1'), view.isChanging()], [false, false])
})

test('an address that a list lacks is read by its id, unless it was seen since', () => {
  const { clock, view, asked, answer } = scene()
  const old = asked()
  clock.freeze(1)
  answer('A')
  view.missed(old)
  assert.is(view.isKnown('r1'), true)
  clock.freeze(1)
  view.missed(asked())
  assert.equal([view.isKnown('r1'), view.isOf('r1')], [false, false])
})

test('an address of another cluster is at no machine of ours', () => {
  const { view, asked } = scene()
  view.answered({ ...at('X'), foreign: 'it is theirs' }, asked())
  assert.equal([view.assigned(), view.machines(), view.foreign()], [undefined, [], 'it is theirs'])
})

test.run()
