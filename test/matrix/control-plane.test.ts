// The control-plane address leaves an API server that fails, and only such a one. Three guardians run, each with the
// rights of its own service account, against a real API server; the machines' own API servers are gates to it.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from '../whole/eventually.ts'
import { dialect, isCloudOnly } from './dialect.ts'
import { type GuardedNode, openGuardedStage } from './guarded-stage.ts'

const stage = await openGuardedStage()
const { calls, faults, latency } = stage.cloud.control
const [a, b, c] = stage.nodes as [GuardedNode, GuardedNode, GuardedNode]

function isHeldByAnother(name: string): boolean {
  const [holder, ...others] = stage.holders()
  return holder !== undefined && holder !== name && others.length === 0
}

/** The write that assigns the address, and all writes of a move. */
const lastWrite = dialect.name === 'cherry-servers' ? 'PUT /ips/{id}' : 'POST /devices/{id}/ips'
const writes = dialect.name === 'cherry-servers' ? [lastWrite] : ['DELETE /ips/{id}', lastWrite]
const writesSoFar = () => writes.reduce((sum, route) => sum + calls.count(route), 0)

for (const node of stage.nodes) await stage.guard(node)
latency.set({ ms: 250 })

/** Waits until every node may become the holder, and this one is it. */
async function begin(holder: GuardedNode): Promise<void> {
  faults.clear()
  await Promise.all(stage.nodes.map(({ gate }) => gate.set('well')))
  for (const { name } of stage.nodes) await stage.run('uncordon', name)
  for (const guardian of stage.guardians) if (!guardian.isRunning()) await stage.guard(guardian.node)
  // The guardians remember what the last test did: they may take the address from a node that failed until just now.
  for (let attempts = 0; attempts < 3 && (attempts === 0 || isHeldByAnother(holder.name)); attempts += 1)
    await settleAt(holder)
  assert.equal(stage.holders(), [holder.name])
  calls.clear()
}

async function settleAt(holder: GuardedNode): Promise<void> {
  stage.assign(holder)
  await eventually(
    `every guardian knows that ${holder.name} is the holder, and one leads`,
    async () => {
      const leader = await stage.leader()
      return (leader && (await leader.health('/metrics')).text.includes(`holder{node="${holder.name}"}`)) || undefined
    },
    90_000,
  )
  await sleep(6_000)
}

/**
 * Waits after a fault until the cloud assigns the address to another node. How fast that is the bench measures, and
 * test/controllers/control-plane with a clock of its own: here two processors run everything.
 */
async function moves(from: GuardedNode, fault: () => Promise<unknown> | void): Promise<void> {
  await fault()
  await eventually('the address moved', () => isHeldByAnother(from.name) || undefined)
}

test('an API server that refuses loses the address, and people are told', async () => {
  await begin(a)
  await moves(a, () => a.gate.set('refuses'))
  assert.is(writesSoFar(), writes.length)
  const [holder] = stage.holders()
  const lines = String.raw`jsonpath={range .items[*]}{.reason}: {.message}{"\n"}{end}`
  const text = `ControlPlaneAddressMoved: The control-plane address ${stage.address.address} moved from cp-a to ${holder}: `
  for (const name of ['cp-a', holder])
    await eventually(`node ${name} has the Event`, async () => {
      const events = await stage.run('get', 'events', `--field-selector=involvedObject.name=${name}`, '-o', lines)
      return events.includes(text) || undefined
    })
  // Who moved it may have let another one lead since.
  await eventually('the metrics show the move and the holder', async () => {
    const all = await Promise.all(stage.guardians.map(async (one) => (await one.health('/metrics')).text))
    const wanted = [
      'control_plane_moves_total{reason="failed",result="ok"} 1',
      `control_plane_holder{node="${holder}"} 1`,
    ]
    return wanted.every((line) => all.some((text) => text.includes(line))) || undefined
  })
})

if (!isCloudOnly)
  for (const [state, how] of [
    ['hangs', 'hangs'],
    ['broken', 'answers with errors'],
  ] as const)
    test(`an API server that ${how} loses the address`, async () => {
      await begin(a)
      await moves(a, () => a.gate.set(state))
      assert.is(writesSoFar(), writes.length)
    })

test('a cordoned holder hands the address over', async () => {
  await begin(b)
  await moves(b, () => stage.run('cordon', 'cp-b'))
  assert.is(writesSoFar(), writes.length)
})

test('nothing moves while all are bad; the first that is well again has the address', async () => {
  await begin(b)
  await Promise.all(stage.nodes.map(({ gate }) => gate.set('refuses')))
  await sleep(8_000)
  assert.equal([stage.holders(), writesSoFar()], [['cp-b'], 0])
  await c.gate.set('well')
  await stage.holderBecomes('cp-c', 15_000)
})

if (!isCloudOnly)
  test('nothing moves while every API server answers after two seconds', async () => {
    await begin(b)
    await Promise.all(stage.nodes.map(({ gate }) => gate.set('slow')))
    await sleep(15_000)
    assert.equal([stage.holders(), writesSoFar()], [['cp-b'], 0])
  })

for (const done of [false, true])
  test(`the leader dies during the last write of a move, ${done ? 'after' : 'before'} it was carried out`, async () => {
    await begin(a)
    const leader = await stage.leader()
    faults.add({ on: lastWrite, answer: 'hang', done, times: 1 })
    await a.gate.set('refuses')
    await eventually('the last write', () => calls.count(lastWrite) > 0 || undefined)
    leader?.signal('SIGKILL')
    await eventually('another guardian completes the move', () => isHeldByAnother('cp-a') || undefined, 12_000)
    await sleep(3_000)
    assert.ok(writesSoFar() <= writes.length + 1, `${writesSoFar()} writes`)
  })

test('an answer that is lost is looked for', async () => {
  await begin(a)
  for (const on of writes) faults.add({ on, answer: 'reset', done: true, times: 1 })
  await moves(a, () => a.gate.set('refuses'))
  await sleep(3_000)
  assert.is(stage.holders().length, 1)
  assert.is(writesSoFar(), writes.length)
})

if (!isCloudOnly)
  test('a leader that is frozen for longer than its lease writes nothing when it continues', async () => {
    await begin(a)
    const leader = await stage.leader()
    leader?.signal('SIGSTOP')
    await moves(a, () => a.gate.set('refuses'))
    await sleep(1_000)
    const written = writesSoFar()
    leader?.signal('SIGCONT')
    await sleep(6_000)
    assert.is(writesSoFar(), written)
  })

if (!isCloudOnly)
  test('a leader whose own API server is cut off loses the lease, and the next one moves the address', async () => {
    await begin(a)
    const leader = await stage.leader()
    assert.ok(leader)
    leader.node.proxy.pause()
    await moves(a, () => a.gate.set('refuses'))
    leader.node.proxy.resume()
    await sleep(3_000)
    assert.is(writesSoFar(), writes.length)
  })

test('what a person moves in the console to a good node stays there', async () => {
  await begin(a)
  stage.assign(b)
  await a.gate.set('refuses')
  await sleep(8_000)
  assert.equal([stage.holders(), writesSoFar()], [['cp-b'], 0])
})

test('what a person takes from every machine is assigned again', async () => {
  await begin(a)
  stage.assign(undefined)
  await a.gate.set('refuses')
  await eventually('it is assigned', () => isHeldByAnother('cp-a') || undefined, 20_000)
})

if (!isCloudOnly)
  test('a guardian does not start that would talk through the address that it guards', async () => {
    const refused = stage.begin(a, [`--api-server=https://${stage.address.address}:6443`])
    const code = await refused.exited
    assert.is(code, 1)
    assert.match(
      readFileSync(refused.logFile, 'utf8'),
      `by the control-plane address itself (https://${stage.address.address}:6443)`,
    )
  })

test.after(() => stage.close())

test.run()
