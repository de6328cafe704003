// Runs of apply and undo at the same time: one works, the others say who does. A run that died keeps nobody away for long.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { leases } from '../../../kube/resource.ts'
import { applyTakeover } from '../../../commands/takeover/apply/apply.ts'
import { End } from '../../../commands/takeover/end.ts'
import { identityOf, lockAt, withLock } from '../../../commands/takeover/lock.ts'
import { undoTakeover } from '../../../commands/takeover/undo/undo.ts'
import { begins } from './runs.ts'
import { type World, world } from './world.ts'

const common = (of: World, tell: (line: string) => void = () => {}) => ({
  client: of.client(),
  clock: of.clock,
  tell,
  signal: new AbortController().signal,
  patienceMs: 3e6,
})
const runs = {
  apply: (of: World, tell?: (line: string) => void) =>
    applyTakeover({ ...common(of, tell), makePlan: async () => of.plan(), install: of.install }),
  undo: (of: World, tell?: (line: string) => void) => undoTakeover({ ...common(of, tell), namespace: 'eip-admission' }),
}
const ended = (run: Promise<unknown>) =>
  run.then(
    () => 'done',
    (error: Error) => `${error instanceof End ? error.state : error.name}: ${error.message}`,
  )
const lock = ({ api }: World) => api.stored(leases).find(({ metadata }) => metadata.name === 'eip-admission-takeover')

for (const second of ['apply', 'undo'] as const)
  // Before the first step nothing is recorded that undo could undo.
  for (const step of [
    ...(second === 'apply' ? ['Install'] : []),
    'Start eip-admission',
    'Stop CPEM',
    'Let eip-admission',
  ])
    test(`${second} that begins while apply is at "${step}" is refused, and apply ends well`, async () => {
      // Apply waits for a process of ours until the other run has ended.
      const of = world()
      let other: Promise<string> | undefined
      const first = runs.apply(of, (line) => {
        if (!begins(line, step)) return
        other = ended(runs[second](of)).finally(() => (of.state.isOurs = true))
      })
      await first
      assert.match((await other) ?? '', /^refused: `takeover apply` of .+@.+ has been running since \d{4}-.*Z/)
      assert.is(lock(of)?.spec?.holderIdentity, '')
      assert.ok(of.hasWebhooks())
    })

test('two that begin in the same moment: one is refused', async () => {
  const of = world()
  const all = [1, 2].map(() => ended(runs.apply(of)).finally(() => (of.state.isOurs = true)))
  const [one, other = ''] = (await Promise.all(all)).toSorted()
  assert.is(one, 'done')
  assert.match(other, /^refused: /)
})

test('a run that died keeps the next one waiting until its lease has expired, and prints why', async () => {
  const of = world()
  of.state.isOurs = true
  of.state.kills = 6
  assert.match(await ended(runs.apply(of)), 'killed')
  of.state.kills = Infinity
  const lines: string[] = []
  const began = of.clock.now()
  await runs.apply(of, (line) => void lines.push(line))
  assert.match(
    lines[0] ?? '',
    /^`takeover apply` of .* has been running since .*; waiting up to 15 s to see whether it is still running$/,
  )
  assert.ok(of.clock.now() - began >= 15_000)
})

for (const [what, holderIdentity] of [
  ['works', 'bob@desk_takeover-undo_1'],
  ['has worked', ''],
] as const)
  test(`a run that was asleep writes nothing when it wakes and another one ${what}`, async () => {
    const of = world()
    of.state.isOurs = true
    const asleep = await ended(
      runs.apply(of, (line) => {
        if (!begins(line, 'Stop CPEM')) return
        // Another one took the lock meanwhile, and the date went on.
        const stored = lock(of)
        assert.ok(stored)
        const spec = {
          ...stored.spec,
          holderIdentity,
          renewTime: '2026-01-01T00:00:00.000000Z',
        }
        of.api.put(leases, { ...stored, spec })
        of.state.nowMs += 60_000
        of.state.writes = 0
      }),
    )
    assert.match(asleep, 'refused: another run took over')
    assert.is(lock(of)?.spec?.holderIdentity, holderIdentity)
    assert.equal(of.workload()?.spec?.replicas, 1)
  })

test('a run that wakes up in a call that fails says that it lost its place', async () => {
  for (const isLost of [true, false]) {
    const of = world()
    const asleep = ended(
      withLock(lockAt('eip-admission'), { ...common(of), identity: identityOf('apply') }, async () => {
        const stored = lock(of)
        assert.ok(stored)
        if (isLost)
          of.api.put(leases, { ...stored, spec: { ...stored.spec, holderIdentity: 'bob@desk_takeover-undo_1' } })
        of.state.nowMs += 60_000
        throw new Error('socket hang up')
      }),
    )
    assert.match(await asleep, isLost ? 'refused: another run took over' : 'Error: socket hang up')
  }
})

test.run()
