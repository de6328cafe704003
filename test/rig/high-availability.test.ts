// Two replicas of the chart behind their Service, while users create twenty Services a second. No create fails during a
// rolling update, two drains at once or kills, and every Service has its own address.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { listAll } from '../../kube/list-all.ts'
import type { ValueTree } from '../../manifests/choices.ts'
import { chartFolder } from '../../sandbox/run-helm.ts'
import { addressesOf, createWhile } from '../whole/create-load.ts'
import { reservationsIn } from '../whole/dialects.ts'
import { eventually } from '../whole/eventually.ts'
import { untilReviewed } from '../whole/reviewed.ts'
import { type ChartOptions, type ChartStage, withChart } from './chart-stage.ts'
import { type Pod, pods } from './pods/pod.ts'

type Metal = ChartStage<'equinix-metal'>

const options: ChartOptions<'equinix-metal'> = {
  dialect: 'equinix-metal',
  // It computes the disruptions that a PodDisruptionBudget allows.
  controllers: ['disruption-controller'],
  kubelet: { nodes: ['node-a', 'node-b', 'node-c'] },
}

const wait = ['--wait', '--timeout=240s']

function valuesOf({ values }: Metal, more: ValueTree = {}): ValueTree {
  const unlimited = { 'max-addresses': 'none', 'max-addresses-per-namespace': 'none', 'max-unbound': 4_000 }
  // With these times, another leader follows soon after a kill.
  const lease = {
    'leader-elect-lease-duration': '5s',
    'leader-elect-renew-deadline': '3s',
    'leader-elect-retry-period': '1s',
  }
  return { ...values, settings: { ...(values['settings'] as ValueTree), ...unlimited, ...lease, ...more } }
}

/** The pods that answer reviews. */
async function answering({ client }: Metal): Promise<Pod[]> {
  const all = await listAll(client, pods, { namespace: 'eip-admission' })
  return all.filter(
    ({ metadata, status }) =>
      !metadata.deletionTimestamp &&
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  )
}

/** The smallest number of pods that answered at a time during `act`. */
async function leastWhile(stage: Metal, act: () => Promise<unknown>): Promise<number> {
  const over = new AbortController()
  let least = Infinity
  const look = async () => {
    while (!over.signal.aborted) {
      least = Math.min(least, (await answering(stage)).length)
      await sleep(50)
    }
  }
  const looks = look()
  try {
    await act()
  } finally {
    over.abort()
    await looks
  }
  return least
}

async function twoAnswer(stage: Metal): Promise<void> {
  await eventually('two pods answer', async () => (await answering(stage)).length === 2 || undefined)
}

async function rollingUpdate(stage: Metal): Promise<void> {
  const before = (await answering(stage)).map(({ metadata }) => metadata.name)
  const least = await leastWhile(stage, async () => {
    await stage.helm(['upgrade', 'eip-admission', chartFolder, ...wait], valuesOf(stage, { v: 1 }))
  })
  assert.ok(least >= 2, `a new pod is ready before an old one goes: ${least}`)
  const after = (await answering(stage)).map(({ metadata }) => metadata.name)
  assert.equal(
    after.filter((name) => before.includes(name)),
    [],
  )
}

/** Drains the nodes of both pods at the same time: the second drain must wait until the first pod is replaced. */
async function drainBoth(stage: Metal): Promise<void> {
  const targets = (await answering(stage)).map(({ spec }) => spec.nodeName ?? '')
  assert.is(new Set(targets).size, 2, 'the pods are on two nodes')
  const least = await leastWhile(stage, () =>
    Promise.all(targets.map((node) => stage.run(['drain', node, '--force', '--timeout=240s']))),
  )
  assert.ok(least >= 1, 'the budget keeps a replica')
  for (const node of targets) await stage.run(['uncordon', node])
  await twoAnswer(stage)
}

/** Kills both processes, including the leader's, each when the other one is running again. */
async function killInTurn(stage: Metal): Promise<void> {
  for (const { metadata } of await answering(stage)) {
    const { name, resourceVersion: before } = metadata
    await stage.kubelet.kill(name)
    await eventually('the pod answers again', async () => {
      const pod = (await answering(stage)).find((one) => one.metadata.name === name)
      return (pod && pod.metadata.resourceVersion !== before) || undefined
    })
    await twoAnswer(stage)
  }
}

test('twenty creates a second: a rolling update, two drains and kills fail none, and each has its address', async () => {
  await withChart<'equinix-metal'>(async (stage) => {
    const { client, cloud } = stage
    cloud.control.quota.set(5_000)
    await stage.helm(['install', 'eip-admission', chartFolder, ...wait], valuesOf(stage))
    await twoAnswer(stage)
    await untilReviewed(client)
    const rolled = await createWhile(client, { prefix: 'rolled' }, () => rollingUpdate(stage))
    const drained = await createWhile(client, { prefix: 'drained' }, () => drainBoth(stage))
    const killed = await createWhile(client, { prefix: 'killed' }, () => killInTurn(stage))
    for (const { failed } of [rolled, drained, killed]) assert.equal(failed, [])
    // The controller completes a Service whose review a killed process did not answer; no other review is missed.
    assert.equal([...rolled.missed, ...drained.missed], [])
    const all = [rolled, drained, killed].flatMap(({ created }) => created)
    assert.ok(all.length > 100, `${all.length} Services`)
    assert.is((await addressesOf(client, { created: all })).length, all.length)
    assert.is(reservationsIn('equinix-metal', cloud.control).length, all.length, 'no address is doubled')
    console.log(`${all.length} creates; after kills ${killed.missed.length} of ${killed.created.length} missed`)
    assert.not.match(stage.logText(), /TypeError|ReferenceError|User \\?"[^"]*" cannot/)
  }, options)
})

test.run()
