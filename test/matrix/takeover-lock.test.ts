// Two people at one takeover: one run works, the other is told who does. A run that sleeps meanwhile wakes up powerless.
import type { ChildProcess } from 'node:child_process'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { leases } from '../../kube/resource.ts'
import { eventually } from '../whole/eventually.ts'
import { openStage } from './dialect.ts'
import {
  type Ran,
  hasReplicas,
  metallbObjects,
  planFor,
  predecessorLeads,
  runTakeover,
  serviceFacts,
  setScene,
  startPredecessor,
} from './takeover-scene.ts'

const stage = await openStage()
await setScene(stage, ['web'])
const predecessor = startPredecessor(stage)
await predecessorLeads(stage)
const before = { objects: await metallbObjects(stage), services: await serviceFacts(stage) }
const lock = async () =>
  (await stage.client.get(leases, { namespace: 'eip-admission', name: 'eip-admission-takeover' }))?.spec

/** An apply that waits for a process of ours, which nobody starts. */
async function waitingApply(): Promise<{ child: ChildProcess; ended: Promise<Ran> }> {
  const plan = await planFor(stage)
  return new Promise((resolve, reject) => {
    const ended = runTakeover(stage, 'apply', {
      plan,
      lockMs,
      seen: (output, child) => {
        if (output.includes('[4/6]')) resolve({ child, ended })
      },
    })
    ended.then(({ output }) => reject(new Error(output)), reject)
  })
}

/** As for a person. */
const lockMs = 15_000

const working = /`takeover apply` of .+@.+ works on it since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/

test('while one apply works, another one and undo are refused, and say who works since when', async () => {
  const { child, ended } = await waitingApply()
  for (const command of ['apply', 'undo'] as const) {
    const { code, output } = await runTakeover(stage, command, { plan: await planFor(stage), lockMs })
    assert.is(code, 1, output)
    assert.match(output, working)
    assert.match(output, 'wait until it has ended, or end it there')
  }
  child.kill('SIGINT')
  assert.match((await ended).output, 'Stopped. What is done stays done.')
  assert.is((await lock())?.holderIdentity, '')
})

test('a run that is frozen loses its place to undo, and changes nothing when it wakes', async () => {
  const { child, ended } = await waitingApply()
  child.kill('SIGSTOP')
  const { code, output } = await runTakeover(stage, 'undo', { lockMs })
  assert.is(code, 0, output)
  assert.match(output, /works on it since .*; waiting up to 15 s to see whether it lives/)
  child.kill('SIGCONT')
  const woken = await ended
  assert.is(woken.code, 1, woken.output)
  assert.match(woken.output, 'another run took over while this one could not reach the API server', woken.output)
  await hasReplicas(stage, 1)
  await predecessorLeads(stage)
  assert.equal(await metallbObjects(stage), before.objects)
  assert.equal(await serviceFacts(stage), before.services)
  assert.is(
    await stage.run('get', 'configmap', '-n', 'eip-admission', 'eip-admission-takeover', '--ignore-not-found'),
    '',
  )
})

test('a run that was killed keeps the next one away until its lease has expired', async () => {
  const { child, ended } = await waitingApply()
  child.kill('SIGKILL')
  await ended
  const { code, output } = await runTakeover(stage, 'undo', { lockMs })
  assert.is(code, 0, output)
  await eventually('the lock is free', async () => ((await lock())?.holderIdentity === '' ? true : undefined))
})

test.after(async () => {
  await predecessor.stop()
  await stage.close()
})

test.run()
