// Two clusters with one id at one cloud: an original, and a copy that was restored from its backup.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ConfigMap } from '../../../kube/objects.ts'
import { configMaps } from '../../../kube/resource.ts'
import { type Heartbeats, clusterHeartbeats } from '../../../ledger/identity/heartbeats.ts'
import { haltMemory, ledgerMap } from '../../../ledger/identity/ledger-map.ts'
import { confirmAnnotation } from '../../../ledger/record/names.ts'
import { serviceMarks } from '../../../ledger/record/marks.ts'
import { makeReservation } from '../../builders.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { type Hooks, interposed } from '../../fakes/interposed.ts'
import { silentLog } from '../../fakes/log.ts'
import { scriptedCloud } from '../../fakes/scripted-cloud.ts'
import type { Witness } from '../../../ledger/identity/witness.ts'
import { neverAborted, noWitness, scheme } from '../harness.ts'

const intervalMs = 5 * 60_000
const at = { namespace: 'eip', name: 'ledger' }

function makeDrill() {
  const time = { ms: 0 }
  const cloud = scriptedCloud()
  cloud.put(makeReservation({ marks: serviceMarks(scheme, 'default/web') }))
  const cluster = (backup?: ConfigMap, witness = noWitness) => {
    const api = apiServer()
    const trouble: Hooks = {}
    const client = interposed(api.client, trouble)
    if (backup) api.put(configMaps, backup)
    const events: string[] = []
    /** The map as a process that has just started reads it. */
    const makeMap = () => {
      const halt = haltMemory({ cluster: scheme.cluster, at })
      return { halt, map: ledgerMap({ client, ...at, halt, monotonicMs: () => time.ms }) }
    }
    /** A leader that follows another one after so long. */
    const makeHeartbeats = ({ silentMs }: { silentMs: number | undefined } = { silentMs: 0 }) => {
      const heartbeats = clusterHeartbeats({
        cloud: cloud.cloud,
        scheme,
        log: silentLog,
        ...makeMap(),
        intervalMs,
        successionMs: 60_000,
        monotonicMs: () => time.ms,
        event: (_map, { reason }) => void events.push(reason),
        witness,
      })
      heartbeats.reset(silentMs)
      return heartbeats
    }
    const stored = () => api.stored(configMaps)[0]
    return {
      api,
      trouble,
      events,
      makeMap,
      makeHeartbeats,
      stored,
      reason: () => makeMap().halt.reason(stored()),
      confirm() {
        const { metadata, ...map } = stored() as ConfigMap
        const annotations = { [confirmAnnotation]: map.data?.['foreign-sign'] ?? '' }
        api.put(configMaps, { ...map, metadata: { ...metadata, annotations } })
      },
    }
  }
  const check = async (heartbeats: Heartbeats) => {
    time.ms += intervalMs
    await heartbeats.begin(neverAborted)
    return heartbeats.check(cloud.reserved(), neverAborted)
  }
  return { time, cloud, cluster, check }
}

/** An original that has swept three times since its backup, and a copy from that backup. */
async function restoreCopy() {
  const drill = makeDrill()
  const original = drill.cluster()
  const heartbeats = original.makeHeartbeats()
  await drill.check(heartbeats)
  const backup = original.stored()
  for (let n = 0; n < 3; n += 1) assert.is(await drill.check(heartbeats), 'all')
  const copy = drill.cluster(backup)
  return { ...drill, original, originalHeartbeats: heartbeats, copy, copyHeartbeats: copy.makeHeartbeats() }
}

test('a cluster whose ConfigMap is deleted or restored from a backup knows the heartbeat that its process wrote', async () => {
  for (const restore of [false, true]) {
    const { check, cluster } = makeDrill()
    const original = cluster()
    const heartbeats = original.makeHeartbeats()
    await check(heartbeats)
    const backup = original.stored() as ConfigMap
    for (let n = 0; n < 12; n += 1) await check(heartbeats)
    original.api.drop(configMaps, at)
    if (restore) original.api.put(configMaps, backup)
    assert.is(await check(heartbeats), 'all')
    assert.equal(original.events, [])
    // The next process reads the last heartbeat in the ConfigMap.
    assert.is.not(await check(original.makeHeartbeats()), 'nothing')
  }
})

test('a copy that sees the heartbeat of a live original stops while that lives; the original continues', async () => {
  const { check, copy, copyHeartbeats, originalHeartbeats, original } = await restoreCopy()
  for (let n = 0; n < 6; n += 1) {
    assert.is(await check(copyHeartbeats), 'nothing')
    assert.is(await check(originalHeartbeats), 'all')
  }
  assert.is(copyHeartbeats.state().kind, 'foreign')
  assert.match(copy.reason() ?? '', /another cluster uses the cluster id cluster-1.*confirm-cluster=/)
  assert.is(original.reason(), undefined)
  assert.equal(new Set(copy.events), new Set(['ClusterIdInUse']))
})

test('a copy whose original is alive stays stopped when the original falls silent, and after a restart', async () => {
  const { check, copy, copyHeartbeats, originalHeartbeats } = await restoreCopy()
  await check(copyHeartbeats)
  await check(originalHeartbeats)
  for (let n = 0; n < 8; n += 1) assert.is(await check(copyHeartbeats), 'nothing')
  const restarted = copy.makeHeartbeats()
  for (let n = 0; n < 8; n += 1) assert.is(await check(restarted), 'nothing')
  copy.confirm()
  assert.is(await check(restarted), 'all')
  assert.is(copy.reason(), undefined)
  assert.is(copy.stored()?.metadata.annotations?.[confirmAnnotation], undefined)
})

for (const [name, change] of [
  ['is deleted', undefined],
  ['is put back to what it was before the halt', { signs: 'older.300' }],
] as const) {
  const harm = ({ api, stored }: Awaited<ReturnType<typeof restoreCopy>>['copy']) => {
    const map = stored() as ConfigMap
    api.drop(configMaps, at)
    if (change) api.put(configMaps, { ...map, data: change })
  }

  test(`a copy whose ConfigMap ${name} stays stopped, even when the original falls silent`, async () => {
    const { check, copy, copyHeartbeats, originalHeartbeats } = await restoreCopy()
    await check(copyHeartbeats)
    await check(originalHeartbeats)
    await check(copyHeartbeats)
    harm(copy)
    for (let n = 0; n < 8; n += 1) assert.is(await check(copyHeartbeats), 'nothing')
    // The map says it again, to processes that start later.
    const restarted = copy.makeHeartbeats()
    for (let n = 0; n < 8; n += 1) assert.is(await check(restarted), 'nothing')
    copy.confirm()
    assert.is(await check(restarted), 'all')
    assert.is(copy.stored()?.metadata.annotations?.[confirmAnnotation], undefined)
    assert.is(await check(copyHeartbeats), 'all', 'the process that knew the halt reads that it is over')
  })

  test(`a replica of a copy whose ConfigMap ${name} buys nothing before a leader continues`, async () => {
    const { check, copy, copyHeartbeats } = await restoreCopy()
    await check(copyHeartbeats)
    const replica = copy.makeMap()
    await replica.map.read(neverAborted)
    harm(copy)
    const reason = async () => replica.halt.reason(await replica.map.read(neverAborted))
    assert.match((await reason()) ?? '', /another cluster uses .*confirm-cluster=/)
    for (let n = 0; n < 2; n += 1) {
      assert.is(await check(copyHeartbeats), 'nothing')
      assert.match((await reason()) ?? '', /another cluster uses/)
    }
    assert.is(await check(copyHeartbeats), 'all', 'the original no longer exists')
    assert.is(await reason(), undefined)
    // Without the map it is over all the same.
    copy.api.drop(configMaps, at)
    assert.is(await reason(), undefined)
  })
}

test('a recreated map has the halt, and a confirmation on it takes effect', async () => {
  const { check, copy, copyHeartbeats } = await restoreCopy()
  await check(copyHeartbeats)
  const { map } = copy.makeMap()
  await map.read(neverAborted)
  copy.api.drop(configMaps, at)
  await map.change(undefined, { project: 'project-1' }, neverAborted)
  assert.match(copy.reason() ?? '', /another cluster uses/)
  copy.confirm()
  assert.is(await check(copyHeartbeats), 'all')
  assert.equal([copy.reason(), copy.stored()?.metadata.annotations], [undefined, {}])
})

test('a copy stops although its ConfigMap cannot be written', async () => {
  const { check, copy, copyHeartbeats } = await restoreCopy()
  copy.trouble.before = ({ verb }) => {
    if (verb === 'replace') throw new Error('refused')
  }
  const [refused] = await Promise.allSettled([check(copyHeartbeats)])
  assert.equal([refused.status, copyHeartbeats.state().kind], ['rejected', 'foreign'])
})

test('after a disaster the copy takes over once the heartbeat has not changed for three intervals', async () => {
  const { check, copy, copyHeartbeats } = await restoreCopy()
  const results: string[] = []
  for (let n = 0; n < 5; n += 1) results.push(await check(copyHeartbeats))
  assert.equal(results, ['nothing', 'nothing', 'nothing', 'all', 'all'])
  assert.is(copy.events.at(-1), 'ClusterTakenOver')
})

test('a cluster that takes over does so although another process changes the ConfigMap while it marks the carrier', async () => {
  const { check, cloud, copy, copyHeartbeats } = await restoreCopy()
  for (let n = 0; n < 3; n += 1) await check(copyHeartbeats)
  const mark = cloud.cloud.mark.bind(cloud.cloud)
  cloud.cloud.mark = async (...of) => {
    await mark(...of)
    const { data, ...map } = copy.stored() as ConfigMap
    copy.api.put(configMaps, { ...map, data: { ...data, orphans: 'res-7' } })
  }
  assert.is(await check(copyHeartbeats), 'all')
  cloud.cloud.mark = mark
  assert.equal([copy.reason(), copy.stored()?.data?.['orphans']], [undefined, 'res-7'])
  assert.is(await check(copyHeartbeats), 'all')
})

/** Kubelets of one machine. */
const kubelets = (machine: string): Witness => ({
  find: () => Promise.resolve(machine),
  serves: (name) => Promise.resolve(name === machine),
})

/** A cluster whose last process has ended three sweeps after a backup. */
async function writtenBy(machine: string) {
  const drill = makeDrill()
  const original = drill.cluster(undefined, kubelets(machine))
  const heartbeats = original.makeHeartbeats()
  await drill.check(heartbeats)
  const backup = original.stored()
  for (let n = 0; n < 3; n += 1) await drill.check(heartbeats)
  return { ...drill, backup, originalHeartbeats: heartbeats }
}

test('no cluster takes over while the provider refuses its heartbeat: perhaps the other one cannot write either', async () => {
  const { check, cloud, copy, copyHeartbeats } = await restoreCopy()
  for (let n = 0; n < 3; n += 1) assert.is(await check(copyHeartbeats), 'nothing')
  cloud.refusesMark = 'unavailable'
  const [refused] = await Promise.allSettled([check(copyHeartbeats)])
  assert.equal([refused.status, copyHeartbeats.state().kind], ['rejected', 'foreign'])
  assert.ok(copy.reason() !== undefined)
  cloud.refusesMark = undefined
  const results: string[] = []
  for (let n = 0; n < 4; n += 1) results.push(await check(copyHeartbeats))
  assert.equal(results, ['nothing', 'nothing', 'nothing', 'all'])
})

test('a confirmation by a person needs no heartbeat', async () => {
  const { check, cloud, copy, copyHeartbeats } = await restoreCopy()
  await check(copyHeartbeats)
  cloud.refusesMark = 'auth'
  copy.confirm()
  assert.is(await check(copyHeartbeats), 'all')
})

test('a cluster restored from an older backup continues at once if its kubelets serve it', async () => {
  const { check, cluster, backup } = await writtenBy('machine-1')
  const restored = cluster(backup, kubelets('machine-1'))
  assert.is(await check(restored.makeHeartbeats()), 'all')
  assert.equal(restored.events, ['ClusterTakenOver'])
  assert.is(restored.reason(), undefined)
})

test('a copy with other machines stops, and the original continues', async () => {
  const { check, cluster, backup, originalHeartbeats } = await writtenBy('machine-1')
  const copyHeartbeats = cluster(backup, kubelets('machine-2')).makeHeartbeats()
  assert.is(await check(copyHeartbeats), 'nothing')
  assert.is(await check(originalHeartbeats), 'all')
  assert.is(await check(copyHeartbeats), 'nothing')
})

test('an outage of the provider does not prove that the other cluster no longer exists', async () => {
  const { check, copyHeartbeats, time } = await restoreCopy()
  assert.is(await check(copyHeartbeats), 'nothing')
  time.ms += 4 * intervalMs
  const results: string[] = []
  for (let n = 0; n < 4; n += 1) results.push(await check(copyHeartbeats))
  assert.equal(results, ['nothing', 'nothing', 'nothing', 'all'])
})

test('an original that comes back after the copy took over stops', async () => {
  const { check, copyHeartbeats, originalHeartbeats } = await restoreCopy()
  for (let n = 0; n < 5; n += 1) await check(copyHeartbeats)
  assert.is(await check(originalHeartbeats), 'nothing')
})

test('a copy of a backup that is younger than a sweep observes first, and stops when the original writes its next heartbeat', async () => {
  const { cluster, check, original, originalHeartbeats } = await restoreCopy()
  const copyHeartbeats = cluster(original.stored()).makeHeartbeats()
  assert.is(await check(copyHeartbeats), 'no-release')
  assert.is(await check(originalHeartbeats), 'all')
  assert.is(await check(copyHeartbeats), 'nothing')
})

test('a new leader of the same cluster observes, then continues, and so it does in its next term', async () => {
  const { check, original, originalHeartbeats } = await restoreCopy()
  const next = original.makeHeartbeats()
  assert.equal([await check(next), await check(next), await check(next)], ['no-release', 'no-release', 'all'])
  await check(originalHeartbeats)
  next.reset(0)
  assert.is(next.state().kind, 'unchecked')
  assert.equal([await check(next), await check(next), await check(next)], ['no-release', 'no-release', 'all'])
})

test('a waiting copy stops waiting once a person has confirmed it', async () => {
  const { cloud, cluster, check, original, originalHeartbeats } = await restoreCopy()
  const look = (heartbeats: Heartbeats) => heartbeats.check(cloud.reserved(), neverAborted)
  const copy = cluster(original.stored())
  const heartbeats = copy.makeHeartbeats({ silentMs: undefined })
  assert.is(await check(heartbeats), 'no-release')
  await look(originalHeartbeats)
  assert.is(await look(heartbeats), 'nothing')
  copy.confirm()
  assert.is(await look(heartbeats), 'all')
  assert.equal([heartbeats.state().kind, heartbeats.waitMs()], ['ours', undefined])
})

const minute = 60_000

/** The state of a leader after each of two checks. */
async function statesOf(heartbeats: Heartbeats, { check }: { check: (heartbeats: Heartbeats) => Promise<string> }) {
  const states: string[] = []
  for (let n = 0; n < 2; n += 1) {
    await check(heartbeats)
    states.push(heartbeats.state().kind)
  }
  return states
}

for (const [name, silentMs, states] of [
  ['a leader that follows another at once', 2_000, ['ours', 'ours']],
  ['one that follows after two minutes, as in a copy of a young backup,', 2 * minute, ['waiting', 'waiting']],
  ['one that follows after seven minutes, or whose clock is ahead,', 7 * minute, ['waiting', 'waiting']],
  ['one without a lease before it', undefined, ['waiting', 'waiting']],
  ['one whose clock is far behind', -60 * minute, ['waiting', 'waiting']],
] as const) {
  test(`${name} is ${states.join(', then ')}`, async () => {
    const drill = await restoreCopy()
    const { cluster, original } = drill
    const copy = cluster(original.stored())
    assert.equal(await statesOf(copy.makeHeartbeats({ silentMs }), drill), states)
  })
}

test('after a waiting leader of a copy the next leader waits too, until one completes its wait', async () => {
  const drill = await restoreCopy()
  const copy = drill.cluster(drill.original.stored())
  await drill.check(copy.makeHeartbeats({ silentMs: 2 * minute }))
  const restarted = copy.makeHeartbeats({ silentMs: 1_000 })
  restarted.reset(0)
  assert.equal(await statesOf(restarted, drill), ['waiting', 'waiting'])
  assert.ok((restarted.waitMs() ?? 0) > 0)
  assert.is(await drill.check(restarted), 'all')
  assert.equal([restarted.state().kind, restarted.waitMs()], ['ours', undefined])
  const next = copy.makeHeartbeats({ silentMs: 1_000 })
  await drill.check(next)
  assert.is(next.state().kind, 'ours')
})

test('a leader of a copy that ends before it could read the provider records that releases wait', async () => {
  const drill = await restoreCopy()
  const copy = drill.cluster(drill.original.stored())
  await copy.makeHeartbeats({ silentMs: 2 * minute }).begin(neverAborted)
  assert.equal(await statesOf(copy.makeHeartbeats({ silentMs: 1_000 }), drill), ['waiting', 'waiting'])
})

test("the silence before a process's first term counts in its next ones, until it has written a heartbeat", async () => {
  const drill = await restoreCopy()
  const heartbeats = drill.cluster(drill.original.stored()).makeHeartbeats({ silentMs: undefined })
  heartbeats.reset(0)
  assert.equal(await statesOf(heartbeats, drill), ['waiting', 'waiting'])
  assert.is(await drill.check(heartbeats), 'all')
  heartbeats.reset(0)
  await drill.check(heartbeats)
  assert.is(heartbeats.state().kind, 'ours')
})

test('a copy of a young backup releases nothing before the original shows itself', async () => {
  const drill = await restoreCopy()
  const copyHeartbeats = drill.cluster(drill.original.stored()).makeHeartbeats({ silentMs: 2 * minute })
  await drill.check(copyHeartbeats)
  assert.is(copyHeartbeats.state().kind, 'waiting')
  await drill.check(drill.originalHeartbeats)
  await drill.check(copyHeartbeats)
  assert.is(copyHeartbeats.state().kind, 'foreign')
})

test('two processes of one cluster that sweep at once do not take each other for another cluster', async () => {
  const { check, original, originalHeartbeats } = await restoreCopy()
  const other = original.makeHeartbeats()
  for (let n = 0; n < 4; n += 1) {
    assert.is.not(await check(other), 'nothing')
    assert.is(await check(originalHeartbeats), 'all')
  }
})

test('while marks cannot be written the sweep continues', async () => {
  const { cloud, check, originalHeartbeats } = await restoreCopy()
  cloud.refusesMark = 'auth'
  for (let n = 0; n < 12; n += 1) assert.is(await check(originalHeartbeats), 'all')
})

test('a heartbeat is not written on a reservation that got the id of the carrier after it was listed', async () => {
  const { cloud, check, cluster, time } = makeDrill()
  const heartbeats = cluster().makeHeartbeats()
  await check(heartbeats)
  const listed = cloud.reserved()
  const carrier = makeReservation({ marks: serviceMarks({ ...scheme, cluster: 'another' }, 'default/web') })
  cloud.put(carrier)
  time.ms += intervalMs
  assert.is(await heartbeats.check(listed, neverAborted), 'all')
  assert.equal(cloud.marked, [carrier.id])
})

test.run()
