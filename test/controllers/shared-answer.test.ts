import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sharedAnswer } from '../../controllers/shared-answer.ts'

const { signal } = new AbortController()

function makeQuestion() {
  const time = { ms: 0 }
  const asked: PromiseWithResolvers<number>[] = []
  const ask = () => {
    const question = Promise.withResolvers<number>()
    asked.push(question)
    return question.promise
  }
  const shared = sharedAnswer({ ask, now: () => time.ms })
  return { time, asked, within: (ms: number) => shared.within(ms, signal) }
}

test('whoever asks meanwhile gets the answer of the one who asked first', async () => {
  const { asked, within } = makeQuestion()
  const answers = Promise.all([within(0), within(10), within(0)])
  asked[0]?.resolve(1)
  assert.equal([await answers, asked.length], [[1, 1, 1], 1])
})

test('an answer is good for as long as the one who asks says', async () => {
  const { asked, time, within } = makeQuestion()
  const first = within(0)
  asked[0]?.resolve(1)
  await first
  time.ms = 100
  assert.is(await within(100), 1)
  const second = within(99)
  asked[1]?.resolve(2)
  assert.equal([await second, await within(0), asked.length], [2, 2, 2])
})

test('a failure is everybody’s for two seconds, however old an answer may be', async () => {
  const { asked, time, within } = makeQuestion()
  const failed = within(0).catch(String)
  asked[0]?.reject(new Error('broken'))
  assert.is(await failed, 'Error: broken')
  time.ms = 2_000
  assert.is(await within(60_000).catch(String), 'Error: broken')
  time.ms = 2_001
  const again = within(60_000)
  asked[1]?.resolve(2)
  assert.equal([await again, asked.length], [2, 2])
})

test.run()
