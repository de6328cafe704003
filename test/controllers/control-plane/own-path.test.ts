import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isOnThisMachine, ownPathProblem } from '../../../controllers/control-plane/targets.ts'

const reachedBy = (url: string) => {
  const access = { url, headers: {}, tls: {} }
  return { current: async () => access, renew: async () => access }
}

const ways: [url: string, address: string, isWrong: boolean][] = [
  ['https://203.0.113.9:6443', '203.0.113.9', true],
  ['https://203.0.113.9', '203.0.113.9', true],
  ['https://[2001:db8:0::9]:6443', '2001:db8::9', true],
  ['https://203.0.113.8:6443', '203.0.113.9', false],
  ['https://localhost:6443', '127.0.0.1', true],
  ['https://name.invalid:6443', '203.0.113.9', false],
]
for (const [url, address, isWrong] of ways)
  test(`${url} ${isWrong ? 'leads' : 'does not lead'} through ${address}`, async () => {
    const problem = await ownPathProblem(reachedBy(url), address)
    assert.is(problem !== undefined, isWrong)
    if (problem) assert.match(problem, 'set --api-server (EIP_API_SERVER)')
  })

test('an address of an interface is on this machine', () => {
  assert.ok(isOnThisMachine('127.0.0.1'))
  assert.not(isOnThisMachine('203.0.113.9'))
})

test.run()
