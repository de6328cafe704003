import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Balancers } from '../../../clouds/ports/balancers.ts'
import { balancerNames } from '../../../controllers/balancers/balancer-names.ts'
import type { PortChanges } from '../../../controllers/balancers/port-changes.ts'
import { changePorts } from '../../../controllers/balancers/port-steps.ts'

const none: PortChanges = { removePorts: [], removePools: [], updatePools: [], addPorts: [] }
const origin = (name: string) => ({ name, address: '10.0.0.1', port: 30_080 })

const rows: [what: string, changes: Partial<PortChanges>, calls: string[]][] = [
  [
    'a pool goes before its port, which alone shows whose the pool is',
    { removePorts: [{ id: 'port-1', number: 80, pools: ['pool-1', 'pool-2'] }] },
    ['removePool pool-1', 'removePool pool-2', 'removePort port-1'],
  ],
  ['a pool without a port goes alone', { removePools: ['pool-1'] }, ['removePool pool-1']],
  [
    'a new origin comes before an old one goes, so that a pool is never empty',
    { updatePools: [{ id: 'pool-1', add: [origin('new')], remove: ['old'] }] },
    ['addOrigin pool-1 new', 'removeOrigin old'],
  ],
  [
    'a new pool has its origins before its port accepts connections',
    { addPorts: [{ number: 80, pool: { add: [origin('a')] } }] },
    ['addPool', 'addOrigin made a', 'addPort balancer-1 80 made'],
  ],
  [
    'an unused pool serves a new port, without the origins of its former one',
    { addPorts: [{ number: 80, pool: { id: 'pool-1', add: [origin('a')], remove: ['b'] } }] },
    ['addOrigin pool-1 a', 'removeOrigin b', 'addPort balancer-1 80 pool-1'],
  ],
]
for (const [what, changes, expected] of rows)
  test(what, async () => {
    const calls: string[] = []
    const call = async (...words: unknown[]) => void calls.push(words.join(' '))
    const balancers = {
      removePort: (id) => call('removePort', id),
      removePool: (id) => call('removePool', id),
      addPort: async (balancer, { number, pool }) => {
        await call('addPort', balancer, number, pool)
        return 'port'
      },
      addPool: async () => {
        await call('addPool')
        return 'made'
      },
      addOrigin: (pool, { name }) => call('addOrigin', pool, name),
      removeOrigin: (id) => call('removeOrigin', id),
    } satisfies Partial<Balancers>
    const names = balancerNames({ key: 'default/web', cluster: 'cluster-1', former: 'former' })
    const target = { balancer: 'balancer-1', changes: { ...none, ...changes }, names }
    await changePorts(balancers as unknown as Balancers, target, new AbortController().signal)
    assert.equal(calls, expected)
  })

test.run()
