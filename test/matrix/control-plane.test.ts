// The control-plane address leaves an API server that fails, and only then. Three guardians run against a real API
// server, each with the rights of its own service account. The machines' own API servers are gates to it. The tables in
// test/controllers/control-plane have the decisions.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from '../whole/eventually.ts'
import { dialect, isCloudOnly } from './dialect.ts'
import { type Guardian, type GuardedNode, openGuardedStage } from './guarded-stage.ts'

const stage = await openGuardedStage()
const { calls, faults, latency } = stage.cloud.control
const [a, b, c] = stage.nodes as [GuardedNode, GuardedNode, GuardedNode]

/** The write that assigns the address, and all writes of a move. */
const { moves: writes } = dialect
const lastWrite = writes.at(-1) ?? ''
const writesSoFar = () => writes.reduce((sum, route) => sum + calls.count(route), 0)

await Promise.all(stage.nodes.map((node) => stage.guard(node)))
latency.set({ ms: 250 })

/** Repairs the last test's damage, waits until every node may become the holder, and returns the current holder. */
async function begin(): Promise<GuardedNode> {
  faults.clear()
  await Promise.all(stage.nodes.map(({ gate }) => gate.set('well')))
  for (const guardian of stage.guardians) if (!guardian.isRunning()) await stage.guard(guardian.node)
  await stage.untilProbed(stage.nodes, 'ok')
  const holder = await stage.untilSettled()
  calls.clear()
  return holder
}

/**
 * Waits after a fault until the cloud assigns the address to another node, and the leader knows that and rests. The
 * bench measures how fast that is, and so does test/controllers/control-plane with its own clock.
 */
async function moves(from: GuardedNode, fault: () => Promise<unknown> | void): Promise<GuardedNode> {
  await fault()
  await eventually('the address moved', () => isHeldByAnother(from) || undefined)
  return rests()
}

/** The holder after more probes of the leader, which has done by then whatever it intended. */
async function rests(): Promise<GuardedNode> {
  const holder = await stage.untilSettled()
  await stage.untilProbed([holder], 'ok', 3)
  return holder
}

function isHeldByAnother({ name }: GuardedNode): boolean {
  const [holder, ...others] = stage.holders()
  return holder !== undefined && holder !== name && others.length === 0
}

async function leader(): Promise<Guardian> {
  return eventually('a guardian leads', () => stage.leader())
}

test('an API server that refuses loses the address, and an Event reports it', async () => {
  const from = await begin()
  const to = await moves(from, () => from.gate.set('refuses'))
  assert.is(writesSoFar(), writes.length)
  const lines = String.raw`jsonpath={range .items[*]}{.reason}: {.message}{"\n"}{end}`
  const text = `ControlPlaneAddressMoved: The control-plane address ${stage.address.address} moved from ${from.name} to ${to.name}: `
  for (const { name } of [from, to])
    await eventually(`node ${name} has the Event`, async () => {
      const events = await stage.run('get', 'events', `--field-selector=involvedObject.name=${name}`, '-o', lines)
      return events.includes(text) || undefined
    })
  // Another guardian may lead by now.
  await eventually('the metrics show the move and the holder', async () => {
    const all = await Promise.all(stage.guardians.map(async (one) => (await one.health('/metrics')).text))
    const wanted = [
      'control_plane_moves_total{reason="failed",result="ok"} 1',
      `control_plane_holder{node="${to.name}"} 1`,
    ]
    return wanted.every((line) => all.some((metrics) => metrics.includes(line))) || undefined
  })
})

/** Packet has Equinix Metal's API, so a single move shows that its settings are read. */
const hasOwnApi = dialect.name !== 'packet'

if (!isCloudOnly) {
  for (const [state, how] of [
    ['hangs', 'hangs'],
    ['broken', 'answers with errors'],
  ] as const)
    test(`an API server that ${how} loses the address`, async () => {
      const from = await begin()
      await moves(from, () => from.gate.set(state))
      assert.is(writesSoFar(), writes.length)
    })

  test('a cordoned holder hands the address over', async () => {
    const from = await begin()
    await moves(from, () => stage.run('cordon', from.name))
    assert.is(writesSoFar(), writes.length)
    await stage.run('uncordon', from.name)
  })

  test('nothing moves while all are bad; the first that is well again has the address', async () => {
    const holder = await begin()
    await Promise.all(stage.nodes.map(({ gate }) => gate.set('refuses')))
    await stage.untilProbed(stage.nodes, 'failed', 12)
    assert.equal([stage.holders(), writesSoFar()], [[holder.name], 0])
    const first = holder === c ? b : c
    await first.gate.set('well')
    await stage.holderBecomes(first.name)
  })

  test('nothing moves while every API server answers after two seconds', async () => {
    const holder = await begin()
    await Promise.all(stage.nodes.map(({ gate }) => gate.set('slow')))
    await stage.untilProbed(stage.nodes, 'ok', 8)
    assert.equal([stage.holders(), writesSoFar()], [[holder.name], 0])
  })

  test('a leader that is frozen for longer than its lease writes nothing when it continues', async () => {
    const holder = await begin()
    const frozen = await leader()
    const others = stage.nodes.filter((node) => node !== holder)
    frozen.signal('SIGSTOP')
    await holder.gate.set('refuses')
    await eventually('the address moved', () => isHeldByAnother(holder) || undefined)
    frozen.signal('SIGCONT')
    const written = writesSoFar()
    // The leader sees the failed holder as often as a move needs.
    await stage.untilProbed([holder], 'failed', 8)
    await stage.untilProbed(others, 'ok')
    assert.is(writesSoFar(), written)
  })

  test('a leader whose own API server is cut off loses the lease, and the next one moves the address', async () => {
    const holder = await begin()
    const cut = await leader()
    cut.node.proxy.pause()
    await holder.gate.set('refuses')
    await eventually('the address moved', () => isHeldByAnother(holder) || undefined)
    cut.node.proxy.resume()
    await stage.untilProbed([holder], 'failed', 8)
    await rests()
    assert.is(writesSoFar(), writes.length)
  })

  test('what a person moves in the console to a good node stays there', async () => {
    const holder = await begin()
    const other = holder === a ? b : a
    stage.assign(other)
    // A move may rely on a read from two seconds ago, so the leader must see this first.
    assert.is(await stage.untilSettled(), other)
    await holder.gate.set('refuses')
    await stage.untilProbed([holder], 'failed', 12)
    assert.is(await rests(), other)
    assert.is(writesSoFar(), 0)
  })

  test('a guardian does not start that would talk through the address that it guards', async () => {
    const refused = stage.begin(a, [`--api-server=https://${stage.address.address}:6443`])
    const code = await refused.exited
    assert.is(code, 1)
    assert.match(
      readFileSync(refused.logFile, 'utf8'),
      `through the control-plane address itself (https://${stage.address.address}:6443)`,
    )
  })
}

if (hasOwnApi) {
  for (const done of [false, true])
    test(`the leader dies during the last write of a move, ${done ? 'after' : 'before'} it was carried out`, async () => {
      const from = await begin()
      const dying = await leader()
      faults.add({ on: lastWrite, answer: 'hang', done, times: 1 })
      await from.gate.set('refuses')
      await eventually('the last write', () => calls.count(lastWrite) > 0 || undefined)
      dying.signal('SIGKILL')
      await eventually('another guardian completes the move', () => isHeldByAnother(from) || undefined)
      await rests()
      assert.ok(writesSoFar() <= writes.length + 1, `${writesSoFar()} writes`)
    })

  test('an answer that is lost is looked for', async () => {
    const from = await begin()
    for (const on of writes) faults.add({ on, answer: 'reset', done: true, times: 1 })
    await moves(from, () => from.gate.set('refuses'))
    // If the write begins an action, it may still run at the next read.
    const most = ['hetzner', 'scaleway'].includes(dialect.name) ? 2 : writes.length
    assert.ok(writesSoFar() >= writes.length && writesSoFar() <= most, `${writesSoFar()} writes`)
  })

  test('two machines that the provider refuses for a moment are tried again', async () => {
    const from = await begin()
    faults.add({ on: lastWrite, answer: 422, times: 3 })
    await moves(from, () => from.gate.set('refuses'))
    assert.is(calls.count(lastWrite), 4)
  })

  test('what a person takes from every machine is assigned again', async () => {
    const from = await begin()
    stage.assign(undefined)
    await from.gate.set('refuses')
    await eventually('it is assigned', () => isHeldByAnother(from) || undefined)
  })
}

test.after(() => stage.close())

test.run()
