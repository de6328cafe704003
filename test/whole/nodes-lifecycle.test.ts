// Machines that are switched off, vanish, or look as if they had vanished.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from './eventually.ts'
import { cloudTaints, simulatedNodes } from './simulated-nodes.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
const { startNode, device, say, seen, node, events } = simulatedNodes(stage)
const { calls, devices, faults } = stage.cloud.control
const env = { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: '' }
const quick = (removalDelay: string) => ['--node-monitor-period=1s', `--node-removal-delay=${removalDelay}`]
const shutdown = 'node.cloudprovider.kubernetes.io/shutdown'
/** Marks a node as silent, and waits until the product has asked the cloud about it. */
async function silence(name: string): Promise<void> {
  const before = calls.all('GET').length
  await say(name, 'Unknown')
  await eventually('it asks the provider', () => calls.all('GET').length >= before + 2 || undefined)
}
const gone = (name: string) => seen('it is deleted', name, (one) => one === undefined)

let product = await stage.start({ env, flags: [...quick('1s'), '--max-node-removals=100'] })
// There are so many nodes that a deleted one is never half of them.
await Promise.all(Array.from({ length: 15 }, (_, n) => startNode(`bystander-${n}`)))

test('a node has the shutdown taint while its machine is off', async () => {
  const { id } = await startNode('sleeper')
  devices.powerOff(id)
  await say('sleeper', 'Unknown')
  await seen('it is marked', 'sleeper', (one) => cloudTaints(one).includes(`${shutdown}:NoSchedule`))
  devices.powerOn(id)
  await seen('the mark no longer exists', 'sleeper', (one) => cloudTaints(one).length === 0)
  devices.powerOff(id)
  await seen('it is marked again', 'sleeper', (one) => cloudTaints(one).length === 1)
  await say('sleeper', 'True')
  await seen('the mark no longer exists for who is ready', 'sleeper', (one) => cloudTaints(one).length === 0)
})

test('a node is deleted after its machine no longer exists, but not while the node is ready', async () => {
  const { id } = await startNode('mortal')
  devices.remove(id)
  // Two intervals in which the node would be deleted.
  await sleep(2000)
  assert.ok(await node('mortal'))
  await say('mortal', 'Unknown')
  await gone('mortal')
  const event =
    'cloud-node-lifecycle-controller: Normal DeletingNode Deleting node mortal because it does not exist in the cloud provider'
  await eventually('an Event says why', async (observe) => observe(await events('mortal')).includes(event) || undefined)
})

type Fault = Parameters<typeof faults.add>[0]
const notFound: Fault = { on: '/devices/*', answer: 404 }
// A table in test/controllers/nodes/node-lifecycle.test.ts has other answers that prove nothing.
const doubts: { what: string; faults: Fault[] }[] = [
  { what: 'the key is refused', faults: [{ on: 'GET', answer: 401 }] },
  { what: 'the list of the machines is empty', faults: [{ on: '/projects/*/devices', answer: 'empty-list' }] },
]
for (const [n, doubt] of doubts.entries()) {
  test(`no node is deleted while ${doubt.what}, even if its machine no longer exists`, async () => {
    const name = `doubted-${n}`
    const { id } = await startNode(name)
    for (const fault of doubt.faults) faults.add(fault)
    devices.remove(id)
    await silence(name)
    await sleep(1000)
    assert.ok(await node(name))
    faults.clear()
    // A change of the node makes the controller check again at once, but perhaps with an older list.
    let changes = 0
    await eventually('it is deleted', async () => {
      await stage.kubectl(['annotate', '--overwrite', 'node', name, `example.com/fixed=${(changes += 1)}`])
      return (await node(name)) === undefined || undefined
    })
  })
}

test('a node stays while the provider lists its machine, even when a read of the machine is not found', async () => {
  await startNode('listed')
  faults.add(notFound)
  await silence('listed')
  await sleep(2000)
  assert.ok(await node('listed'))
  faults.clear()
  await say('listed', 'True')
})

test('the node of a machine that was replaced under the same name stays, and an Event says what to do', async () => {
  const { id } = await startNode('phoenix')
  devices.remove(id)
  const { id: now } = device('phoenix')
  await say('phoenix', 'Unknown')
  const message = await eventually('an Event says it', async (observe) => {
    const text = observe(await events('phoenix'))
    return text.includes('NodeNotDeleted') ? text : undefined
  })
  assert.match(message, `machine ${id} no longer exists, but ${now} also has the name phoenix`)
  assert.match(message, 'kubectl delete node phoenix')
  await sleep(2000)
  assert.ok(await node('phoenix'))
})

test('when many machines vanish at once no node is deleted until an operator intervenes', async () => {
  const names = Array.from({ length: 8 }, (_, n) => `crowd-${n}`)
  await product.stop()
  // The product must notice all of them within this time.
  product = await stage.start({ env, flags: quick('5s') })
  const machines = await Promise.all(names.map(startNode))
  for (const { id } of machines) devices.remove(id)
  await Promise.all(names.map((name) => say(name, 'Unknown')))
  await eventually('an Event on every node says it', async () => {
    const texts = await Promise.all(names.map(events))
    return texts.every((text) => text.includes('until an operator intervenes')) || undefined
  })
  assert.match(readFileSync(stage.logOf('eip-admission'), 'utf8'), 'node not deleted')
  const left = await Promise.all(names.map(node))
  assert.ok(left.every((one) => one !== undefined))
})

test.after(() => stage.close())

test.run()
