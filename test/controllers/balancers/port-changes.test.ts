import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type PortChanges,
  type PortsSeen,
  isUnchanged,
  originChanges,
  portChanges,
} from '../../../controllers/balancers/port-changes.ts'
import { makeBalancer, makePool, names, other, worker } from './builders.ts'

const origin = (id: string, address: string, port = 30_080) => ({ id, address, port })
const added = ({ node, address }: typeof worker, port = 30_080) => ({ name: node, address, port })
const base: PortsSeen = {
  balancer: makeBalancer(),
  pools: [makePool(80)],
  origins: new Map([['pool-80', [origin('origin-1', worker.address)]]]),
  names,
  ports: [{ port: 80, nodePort: 30_080 }],
  nodes: [worker],
}
const none: PortChanges = { removePorts: [], removePools: [], updatePools: [], addPorts: [] }

const cases: { name: string; seen: Partial<PortsSeen>; changes: Partial<PortChanges> }[] = [
  { name: 'nothing differs', seen: {}, changes: {} },
  {
    name: 'a port keeps its pool beside one that somebody else attached',
    seen: { balancer: makeBalancer({ ports: [{ id: 'port-80', number: 80, pools: ['pool-80', 'theirs'] }] }) },
    changes: {},
  },
  {
    name: 'a new port needs a pool with every node',
    seen: { ports: [...base.ports, { port: 443, nodePort: 30_443 }], nodes: [worker] },
    changes: { addPorts: [{ number: 443, pool: { add: [added(worker, 30_443)] } }] },
  },
  {
    name: 'a pool that a crash left is used, with the origins that it has',
    seen: {
      ports: [...base.ports, { port: 443, nodePort: 30_443 }],
      pools: [makePool(80), makePool(443)],
      origins: new Map([
        ...base.origins,
        ['pool-443', [origin('o', worker.address, 30_443), origin('x', '192.0.2.9')]],
      ]),
      nodes: [worker],
    },
    changes: { addPorts: [{ number: 443, pool: { id: 'pool-443', add: [], remove: ['x'] } }] },
  },
  {
    name: 'of two pools of a port the older is used, and the other goes',
    seen: {
      balancer: makeBalancer({ ports: [] }),
      pools: [makePool(80, 'younger', '2026-01-31T10:00:00Z'), makePool(80, 'older')],
      origins: new Map([
        ['older', [origin('o', worker.address)]],
        ['younger', []],
      ]),
    },
    changes: { removePools: ['younger'], addPorts: [{ number: 80, pool: { id: 'older', add: [], remove: [] } }] },
  },
  {
    name: 'a pool beside the one that the port uses goes',
    seen: { pools: [makePool(80), makePool(80, 'second')] },
    changes: { removePools: ['second'] },
  },
  {
    name: 'a pool of a port that the Service lost before it was complete goes',
    seen: { pools: [makePool(80), makePool(8080)] },
    changes: { removePools: ['pool-8080'] },
  },
  {
    name: 'pools of other names are not ours',
    seen: { pools: [makePool(80), { id: 'theirs', name: 'default.web-pool-80', createdAt: undefined }] },
    changes: {},
  },
  {
    name: 'a port that the Service no longer has goes with its pool',
    seen: { ports: [{ port: 443, nodePort: 30_443 }] },
    changes: {
      removePorts: [{ id: 'port-80', number: 80, pools: ['pool-80'] }],
      addPorts: [{ number: 443, pool: { add: [added(worker, 30_443)] } }],
    },
  },
  {
    name: 'a port that goes leaves the pool that another port uses',
    seen: {
      balancer: makeBalancer({
        ports: [...makeBalancer().ports, { id: 'port-81', number: 81, pools: ['pool-80', 'pool-81'] }],
      }),
      origins: new Map([...base.origins, ['pool-81', []]]),
    },
    changes: { removePorts: [{ id: 'port-81', number: 81, pools: ['pool-81'] }] },
  },
  {
    name: 'a port whose pool somebody deleted is made again',
    seen: { origins: new Map(), pools: [] },
    changes: {
      removePorts: [{ id: 'port-80', number: 80, pools: ['pool-80'] }],
      addPorts: [{ number: 80, pool: { add: [added(worker)] } }],
    },
  },
  {
    name: 'a node port that changed replaces the origins',
    seen: { ports: [{ port: 80, nodePort: 31_000 }] },
    changes: { updatePools: [{ id: 'pool-80', add: [added(worker, 31_000)], remove: ['origin-1'] }] },
  },
  {
    name: 'an origin that is there twice goes once',
    seen: { origins: new Map([['pool-80', [origin('one', worker.address), origin('two', worker.address)]]]) },
    changes: { updatePools: [{ id: 'pool-80', add: [], remove: ['two'] }] },
  },
  {
    name: 'every pool of a port has the nodes',
    seen: {
      balancer: makeBalancer({ ports: [{ id: 'port-80', number: 80, pools: ['pool-80', 'theirs'] }] }),
      origins: new Map([...base.origins, ['theirs', []]]),
    },
    changes: { updatePools: [{ id: 'theirs', add: [added(worker)], remove: [] }] },
  },
  { name: 'without any node the pools keep what they have', seen: { nodes: [] }, changes: {} },
  {
    name: 'without a node port a new port waits, and an old one keeps its origins',
    seen: { ports: [{ port: 80 }, { port: 443 }] },
    changes: {},
  },
  {
    name: 'a UDP port is none of the ports, even under the number of another',
    seen: { ports: [...base.ports, { port: 80, nodePort: 30_081, protocol: 'UDP' }] },
    changes: {},
  },
]
for (const { name, seen, changes } of cases) {
  test(name, () => assert.equal(portChanges({ ...base, ...seen }), { ...none, ...changes }))
}

test('origins only: no port is added or removed', () => {
  const seen = { ...base, ports: [{ port: 443, nodePort: 30_443 }, ...base.ports], nodes: [worker, other] }
  const updatePools = [{ id: 'pool-80', add: [added(other)], remove: [] }]
  assert.equal(originChanges(seen), { ...none, updatePools })
})

test('fifty nodes are one update of each pool', () => {
  const nodes = Array.from({ length: 50 }, (_, n) => ({ node: `node-${n}`, address: `198.51.100.${n + 50}` }))
  const { updatePools } = portChanges({ ...base, nodes: [worker, ...nodes] })
  assert.equal(
    updatePools.map(({ add, remove }) => [add.length, remove.length]),
    [[50, 0]],
  )
})

test('only lists that are empty are no change', () => {
  assert.ok(isUnchanged(none))
  assert.not(isUnchanged({ ...none, removePools: ['x'] }))
})

test.run()
