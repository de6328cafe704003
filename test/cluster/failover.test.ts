// The answers of an address to a client outside while pods change their nodes, the leader is killed and its node loses
// power. The bounds are wide, for shared processors: bench/README.md has the figures.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { webDeployment } from '../../sandbox/cluster/programs.ts'
import { eventually } from '../whole/eventually.ts'
import { type Client, clientOf, expose, type Gap, measured } from './booted.ts'
import { bootWorkers, onNode, otherWorker, workers } from './workers.ts'

const cluster = await bootWorkers()
const { nodeCalled, run, isReady } = cluster

const clients = new Map<string, Client>()
/** The longest time in which each client had no answer. */
const longestGaps = () => Promise.all([...clients.values()].map((client) => client.longestGap()))

test('a rollout that moves the only pod of a Local Service leaves its address dead for seconds at most, six times', async () => {
  await run(['create', '-f', '-'], webDeployment('local', onNode('worker-1')))
  await isReady('local')
  clients.set('local', await clientOf(cluster, await expose(cluster, 'local', { externalTrafficPolicy: 'Local' })))
  const gaps: Gap[] = []
  for (let n = 1; n <= 6; n += 1) {
    const template = { spec: { template: { spec: onNode(workers[n % 2] ?? '').spec } } }
    await run(['patch', 'deployment', 'local', '--type=merge', `--patch=${JSON.stringify(template)}`])
    await isReady('local')
    gaps.push(...(await longestGaps()))
  }
  const calls = cluster.cloud.control.calls.all('POST /floating_ips/{id}/actions/assign')
  const asked = calls.map(({ at }) => Date.parse(at))
  const askedAfterMs = ({ beganMs, ms }: Gap) =>
    asked.map((at) => at - beganMs).find((after) => after > -1_000 && after < ms)
  const texts = gaps.map((gap) => `${gap.ms} ms, in which the provider is asked after ${askedAfterMs(gap)} ms`)
  measured(`without an answer in each rollout: ${texts.join('; ')}`)
  assert.ok(
    gaps.every(({ ms }) => ms < 20_000),
    texts.join(),
  )
})

test('while the leader is killed Services get their addresses, and another replica leads', async () => {
  const before = await cluster.leader()
  const pods = ['-n', 'eip-admission', 'get', 'pods', `--field-selector=spec.nodeName=${await cluster.leadingNode()}`]
  const pod = await run([...pods, '-o', 'jsonpath={.items[0].metadata.name}'])
  await run(['-n', 'eip-admission', 'delete', 'pod', pod, '--force', '--grace-period=0'])
  const address = await expose(cluster, 'during', { selector: { app: 'local' } })
  await eventually('another replica leads', async () => {
    const leader = await cluster.leader()
    return (leader !== '' && leader !== before) || undefined
  })
  const client = await clientOf(cluster, address)
  await client.stop()
})

test("the leader's node loses power: addresses leave it within seconds, and none changes", async () => {
  await cluster.bothReady()
  const lost = await cluster.leadingNode()
  const left = otherWorker(lost)
  for (const client of clients.values()) await client.stop()
  clients.clear()
  // Its pod runs on the node that stays, and half of its addresses are on the other one.
  await run(['create', '-f', '-'], webDeployment('web', onNode(left)))
  await isReady('web')
  const names = ['one', 'two', 'three', 'four']
  const addresses = new Map<string, string>()
  for (const name of names) {
    addresses.set(name, await expose(cluster, name, { selector: { app: 'web' } }))
    clients.set(name, await clientOf(cluster, addresses.get(name) ?? ''))
  }
  await longestGaps()
  await nodeCalled(lost).powerOff()
  // The server that is left makes its actions in a row, so each address on the lost node waits for those before it.
  const gaps = await eventually('an address was on that node', async () => {
    const long = (await longestGaps()).flatMap(({ ms }) => (ms > 2_000 ? [ms] : []))
    return long.length > 0 ? long.toSorted((one, other) => one - other) : undefined
  })
  measured(`without an answer at each address on that node: ${gaps.join(', ')} ms`)
  assert.ok(Math.max(...gaps) < 45_000, gaps.join())
  for (const name of names)
    assert.is(await run(['get', 'service', name, '-o', 'jsonpath={.spec.loadBalancerIP}']), addresses.get(name))
})

test.after(async () => {
  for (const client of clients.values()) await client.stop()
  await cluster.close()
})

test.run()
