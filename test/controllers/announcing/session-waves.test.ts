import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ObjectSessions } from '../../../announcers/announcer.ts'
import { excludes, excludesWithFrr } from '../../../announcers/metallb/objects.ts'
import { type SessionChange, interruptingUnits, wavesOf } from '../../../controllers/announcing/session-waves.ts'

type Fact = { nodes?: string; router?: string; localAsn?: number }

/** Nodes are letters; without any it is for nodes that it does not name. */
function sessions({ nodes, router = 'r1', localAsn = 65_000 }: Fact): ObjectSessions {
  return { nodes: nodes === undefined ? undefined : nodes.split(''), router, localAsn }
}

function changed(kind: SessionChange<string>['kind'], ...facts: [Fact, ...Fact[]]): SessionChange<string> {
  const { nodes = 'any', router = 'r1' } = facts[0]
  return { change: `${kind} ${nodes} ${router}`, kind, sessions: facts.map(sessions) }
}

type Case = {
  name: string
  changes: SessionChange<string>[]
  wanted: (Fact & { isStored?: boolean })[]
  isFrr?: true
  wave: string[]
  units: number
}

const cases: Case[] = [
  {
    name: 'one node and one router at a time',
    changes: ['a', 'b', 'c'].flatMap((nodes) => [
      changed('update', { nodes }),
      changed('update', { nodes, router: 'r2' }),
    ]),
    wanted: [{ nodes: 'a' }, { nodes: 'b' }, { nodes: 'c' }],
    wave: ['update a r1', 'update b r2'],
    units: 6,
  },
  {
    name: 'a creation beside nothing interrupts nothing',
    changes: [changed('creation', { nodes: 'a' })],
    wanted: [{ nodes: 'a' }],
    wave: [],
    units: 0,
  },
  {
    name: 'the sessions of a node that is to have none interrupt nothing',
    changes: [changed('removal', { nodes: 'z' })],
    wanted: [{ nodes: 'a' }],
    wave: [],
    units: 0,
  },
  {
    name: 'an object with sessions of that node and of another interrupts those of the other',
    changes: [changed('removal', { nodes: 'z' }, { nodes: 'a' })],
    wanted: [{ nodes: 'a', isStored: true }],
    wave: ['removal z r1'],
    units: 1,
  },
  {
    name: 'a session that another replaces goes with it',
    changes: [changed('creation', { nodes: 'a' }), changed('removal', { nodes: 'a' })],
    wanted: [{ nodes: 'a' }],
    wave: ['removal a r1', 'creation a r1'],
    units: 1,
  },
  {
    name: 'what is for nodes without a name goes with all that replace it',
    changes: [changed('creation', { nodes: 'a' }), changed('creation', { nodes: 'b' }), changed('removal', {})],
    wanted: [{ nodes: 'a' }, { nodes: 'b' }],
    wave: ['removal any r1', 'creation a r1', 'creation b r1'],
    units: 1,
  },
  {
    name: 'the last session of a node stays until another is there',
    changes: [changed('creation', { nodes: 'a', router: 'r2' }), changed('removal', { nodes: 'a' })],
    wanted: [{ nodes: 'a', router: 'r2' }],
    wave: [],
    units: 1,
  },
  {
    name: 'then it goes',
    changes: [changed('removal', { nodes: 'a' })],
    wanted: [{ nodes: 'a', router: 'r2', isStored: true }],
    wave: ['removal a r1'],
    units: 1,
  },
  {
    name: 'what is for nodes without a name may be the last one of any of them, and stays as long',
    changes: [changed('creation', { nodes: 'a', router: 'r2' }), changed('removal', {})],
    wanted: [{ nodes: 'a', router: 'r2' }],
    wave: [],
    units: 1,
  },
  {
    name: 'with FRR, another AS number replaces all sessions together',
    changes: [
      ...['r1', 'r2'].map((router) => changed('removal', { nodes: 'ab', router })),
      ...['r1', 'r2'].map((router) => changed('creation', { nodes: 'ab', router, localAsn: 65_001 })),
    ],
    wanted: [{ nodes: 'ab', localAsn: 65_001 }],
    isFrr: true,
    wave: ['removal ab r1', 'creation ab r1', 'creation ab r2', 'removal ab r2'],
    units: 1,
  },
]
for (const { name, changes, wanted, isFrr, wave, units } of cases) {
  test(name, () => {
    const found = interruptingUnits({
      changes,
      wanted: wanted.map(({ isStored = false, ...fact }) => ({ sessions: sessions(fact), isStored })),
      excludes: isFrr ? excludesWithFrr : excludes,
    })
    assert.is(found.length, units)
    const all = wanted.map(sessions)
    assert.equal(wavesOf(found, all)[0] ?? [], wave)
  })
}

for (const { count, most } of [
  { count: 2, most: 1 },
  { count: 15, most: 1 },
  { count: 16, most: 2 },
  { count: 200, most: 25 },
]) {
  test(`of ${count} nodes at two routers a wave touches at most ${most} of each router, and no node twice`, () => {
    const all = Array.from({ length: count }, (_, n) => [`node-${n}`]).flatMap((nodes) =>
      ['r1', 'r2'].map((router) => ({ nodes, router, localAsn: 65_000 })),
    )
    const changes = all.map((one) => ({ change: one, kind: 'update' as const, sessions: [one] }))
    const wanted = all.map((one) => ({ sessions: one, isStored: true }))
    const waves = wavesOf(interruptingUnits({ changes, wanted, excludes }), all)
    assert.equal(waves.flat().length, all.length)
    for (const wave of waves) {
      assert.is(new Set(wave.flatMap(({ nodes }) => nodes)).size, wave.length)
      for (const router of ['r1', 'r2']) assert.ok(wave.filter((one) => one.router === router).length <= most)
    }
    assert.ok(waves.length <= Math.ceil(count / most) + 1, `${waves.length} waves`)
  })
}

test.run()
