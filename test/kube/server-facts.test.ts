import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { serverFacts } from '../../kube/server-facts.ts'
import { type Respond, errorOf, sendJson, sendStatus, withServer } from './scripted-server.ts'

const asked = (url: string) => {
  const access = { url, headers: { authorization: 'Bearer the-secret-token' }, tls: {} }
  return serverFacts({ current: async () => access, renew: async () => access }, 'test/1')
}

/** An answer of an API server whose clock differs by so many seconds. */
const answer =
  (aheadS: number, minor = '36'): Respond =>
  (_request, response) =>
    sendJson(
      response,
      { major: '1', minor, gitVersion: `v1.${minor}.3` },
      { headers: { date: new Date(Date.now() + aheadS * 1000).toUTCString() } },
    )

test('the version, and one that a distribution writes its own way', async () => {
  await withServer(answer(0, '31+'), async ({ url, requests }) => {
    assert.equal(await asked(url), { version: 'v1.31+.3', major: 1, minor: 31, clockAheadMs: 0 })
    assert.equal([requests[0]?.method, requests[0]?.path], ['GET', '/version'])
  })
})

test('a clock that is ahead or behind, to a second', async () => {
  for (const aheadS of [-120, -10, 10, 3600])
    await withServer(answer(aheadS), async ({ url }) => {
      const fromMs = performance.now()
      const { clockAheadMs } = await asked(url)
      // The clock was read somewhere on the way.
      const bound = 1500 + (performance.now() - fromMs) / 2
      assert.ok(Math.abs(clockAheadMs - aheadS * 1000) <= bound, `${clockAheadMs} ms for ${aheadS} s`)
    })
})

test('a refusal and a dead server are errors that name the call, and no token', async () => {
  await withServer(
    (_request, response) => sendStatus(response, 403, { reason: 'Forbidden', message: 'no' }),
    async ({ url }) => assert.is((await errorOf(asked(url))).message, 'get /version: no (403 Forbidden)'),
  )
  const { message } = await errorOf(asked('http://127.0.0.1:1'))
  assert.match(message, /^get \/version: no answer from the API server: connect ECONNREFUSED/)
})

test.run()
