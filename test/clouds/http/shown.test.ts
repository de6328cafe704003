// A vendor's words reach people in errors and in the log: no secret, and no id that is none.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { vendorHttp } from '../../../clouds/http/client.ts'
import type { VendorCall } from '../../../clouds/http/request.ts'
import type { Exchange } from '../../../clouds/ports/cloud.ts'
import { cloudErrorOf, neverAborted, type Reply, startScript } from '../scripted-server.ts'

const token = 'tok-5ecret-that-is-long'
const password = 'pass"word\\5ecret'
const write: VendorCall = { name: 'make', method: 'POST', path: ['things'], body: { password }, secrets: [password] }

/** The error of a call that is answered so, and how it was observed. */
async function outcomeOf(reply: Reply) {
  const observed: Exchange[] = []
  await using server = await startScript(() => reply)
  const http = vendorHttp({
    vendor: 'Example',
    baseUrl: server.url,
    userAgent: 'test',
    headers: () => ({ authorization: `Bearer ${token}` }),
    errorText: (body) => (body as { message?: string }).message,
    observe: (exchange) => observed.push(exchange),
  })
  const { message } = await cloudErrorOf(http.call(write, neverAborted))
  return { message, observed }
}

test('a token that the end of a long text cuts is not shown in part', async () => {
  for (const before of [280, 290, 296]) {
    const { message } = await outcomeOf({ status: 422, json: { message: `${'x'.repeat(before)}${token} is bad` } })
    assert.match(message, 'xxx')
    assert.not.match(message, token.slice(0, 4))
  }
})

const once = JSON.stringify({ password })
for (const { name, text } of [
  { name: 'as it is', text: `${password} is bad` },
  { name: 'as JSON', text: `wrong: ${once}` },
  { name: 'as JSON in a text of JSON', text: `wrong: ${JSON.stringify({ request: once })}` },
])
  test(`a password that the vendor quotes ${name} is not shown`, async () => {
    const { message } = await outcomeOf({ status: 422, json: { message: text } })
    assert.match(message, '[redacted]')
    assert.not.match(message, '5ecret')
  })

for (const { name, header, id, isShown } of [
  { name: 'an id', header: 'x-request-id', id: 'req-7:a/b+c=', isShown: true },
  { name: 'an id under the other name', header: 'x-correlation-id', id: '7f3a', isShown: true },
  { name: 'a header with our credentials', header: 'x-request-id', id: `Bearer ${token}`, isShown: false },
  { name: 'a piece of a page', header: 'x-request-id', id: '<script>', isShown: false },
  { name: 'a text longer than any id', header: 'x-request-id', id: 'x'.repeat(129), isShown: false },
])
  test(`${name} is ${isShown ? '' : 'not '}shown as the provider's id of an exchange`, async () => {
    const { observed } = await outcomeOf({ status: 422, json: {}, headers: { [header]: id } })
    assert.equal(
      observed.map(({ cloudRequest }) => cloudRequest),
      [isShown ? id : undefined],
    )
  })

test.run()
