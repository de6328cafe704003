import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { facilityOfHost } from '../../../clouds/equinix-metal/packet/provider.ts'
import { type Reply, startScript } from '../scripted-server.ts'

async function facility(reply: Reply): Promise<{ said: string; path: string | undefined; token: unknown }> {
  await using server = await startScript(() => reply)
  const { signal } = new AbortController()
  const said = await facilityOfHost({ url: `${server.url}/here`, userAgent: 'test' }, signal).catch(
    (error: Error) => error.message,
  )
  const [seen] = server.seen
  return { said, path: seen?.path, token: seen?.headers['x-auth-token'] }
}

test('a host learns its facility, without showing a key', async () => {
  const answer = { id: 'x', facility: 'DA11', metro: 'da' }
  assert.equal(await facility({ json: answer }), { said: 'da11', path: '/here/metadata', token: undefined })
})

const wrong: [name: string, reply: Reply, found: RegExp][] = [
  ['that names none', { json: { metro: 'da' } }, /names no facility/],
  ['that is none', { text: '<html>' }, /metadata service/],
  ['that refuses', { status: 404, json: { error: 'unknown' } }, /metadata service answered 404.*unknown/],
]
for (const [name, reply, found] of wrong)
  test(`a metadata service ${name} is named`, async () => assert.match((await facility(reply)).said, found))

test.run()
