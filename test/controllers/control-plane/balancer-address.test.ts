import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Balancers } from '../../../clouds/ports/balancers.ts'
import { balancerAddress, leasedBalancers } from '../../../controllers/control-plane/control-plane-address.ts'

const { signal } = new AbortController()

/** Every write that a guardian makes at its balancer. */
const writes: Record<string, (balancers: Balancers) => Promise<unknown>> = {
  addPort: (balancers) => balancers.addPort('b', { name: 'api', number: 443, pool: 'p' }, signal),
  removePort: (balancers) => balancers.removePort('port', signal),
  addPool: (balancers) => balancers.addPool('api', signal),
  removePool: (balancers) => balancers.removePool('p', signal),
  addOrigin: (balancers) => balancers.addOrigin('p', { name: 'a', address: '192.0.2.1', port: 6443 }, signal),
  removeOrigin: (balancers) => balancers.removeOrigin('o', signal),
}

/** The requests of a write that arrive at the cloud. */
async function made(write: (balancers: Balancers) => Promise<unknown>, mayWrite: boolean) {
  const calls: string[] = []
  const record = (name: string) => async () => void calls.push(name)
  const cloud = Object.fromEntries(Object.keys(writes).map((name) => [name, record(name)]))
  const problem = await write(leasedBalancers(cloud as unknown as Balancers, () => (mayWrite ? 2_000 : 0))).catch(
    String,
  )
  return { calls, problem }
}

for (const [name, write] of Object.entries(writes))
  test(`${name}: made under a lease, and not begun while the lease could end before the answer`, async () => {
    assert.equal((await made(write, true)).calls, [name])
    const { calls, problem } = await made(write, false)
    assert.equal(calls, [])
    assert.match(String(problem), 'the lease ends too soon for another write')
  })

test('the address of a balancer is named by its id, and no machine has it', async () => {
  const of = (addresses: string[]) =>
    balancerAddress({ get: () => Promise.resolve({ addresses } as never) }, 'b').read('b', signal)
  assert.equal(await of(['203.0.113.9']), { id: 'b', address: '203.0.113.9', machines: [], isNamed: true })
  assert.is(await of([]), undefined)
})

test.run()
