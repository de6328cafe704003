// The answers of an address to a client outside while the network of a node is cut and while a node restarts. The bounds are
// wide, for shared processors: bench/README.md has the figures.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { webDeployment } from '../../sandbox/cluster/programs.ts'
import { eventually } from '../whole/eventually.ts'
import { type Client, clientOf, expose, measured } from './booted.ts'
import { bootWorkers, onNode, otherWorker, workers } from './workers.ts'

const cluster = await bootWorkers()
const { run, nodeCalled, nodeOfAddress } = cluster

/** Services of pods on one worker, by their address. The provider leads half of them through either worker. */
const addressesOfPodsOn = new Map<string, string[]>()
const clients = new Map<string, Client>()
/** Forgets what the clients saw until now. */
const look = () => Promise.all([...clients.values()].map((client) => client.longestGap()))

/** The longest time without an answer of each address, in milliseconds. */
async function gapsOf(addresses: string[]): Promise<number[]> {
  const asking = addresses.flatMap((address) => clients.get(address) ?? [])
  const gaps = await Promise.all(asking.map((client) => client.longestGap()))
  return gaps.map(({ ms }) => ms).toSorted((one, other) => one - other)
}

/** Those of these addresses that the provider leads through a node. */
const through = (node: string, addresses: string[] = []) => addresses.filter((one) => nodeOfAddress(one) === node)

test('clients are answered by the pods of both workers, through both workers', async () => {
  for (const name of workers) await run(['create', '-f', '-'], webDeployment(`on-${name}`, onNode(name)))
  for (const name of workers) {
    await cluster.isReady(`on-${name}`)
    const addresses: string[] = []
    addressesOfPodsOn.set(name, addresses)
    // While a worker answers its first probes late, the other one gets each address.
    while (workers.some((on) => through(on, addresses).length === 0)) {
      assert.ok(addresses.length < 6, `all of ${addresses.join()} lead through one worker`)
      const service = `web-${addresses.length}-${name}`
      const address = await expose(cluster, service, { selector: { app: `on-${name}` } })
      clients.set(address, await clientOf(cluster, address))
      addresses.push(address)
    }
  }
})

/** Cuts the network of a node, until the addresses on it are answered through the other one, and repairs it. */
async function cut(name: string): Promise<void> {
  // The pods of its own are gone with it.
  const moving = through(name, addressesOfPodsOn.get(otherWorker(name)))
  assert.ok(moving.length > 0)
  await look()
  await nodeCalled(name).setLink('down')
  await eventually('the provider leads no address through it', (observe) => {
    const left = observe(moving.filter((address) => nodeOfAddress(address) === name))
    return left.length === 0 || undefined
  })
  const gaps = await gapsOf(moving)
  measured(`without an answer at each address on that node: ${gaps.join(', ')} ms`)
  assert.ok(Math.max(...gaps) < 45_000, gaps.join())
  const repairedMs = Date.now()
  await nodeCalled(name).setLink('up')
  await eventually('its kubelet is heard again', async () => {
    const lease = ['-n', 'kube-node-lease', 'get', 'lease', name, '-o', 'jsonpath={.spec.renewTime}']
    return Date.parse(await run(lease)) > repairedMs || undefined
  })
  await cluster.bothReady()
  const after = await gapsOf(moving)
  measured(`when its network was back: ${after.join(', ')} ms`)
  assert.ok(Math.max(...after) < 5_000, after.join())
  await look()
}

test('the network of a node is cut: its addresses leave it within seconds, and its return interrupts none', async () => {
  await cut(otherWorker(await cluster.leadingNode()))
})

test("the network of the leader's node is cut: the same, and the other replica leads", async () => {
  const before = await cluster.leader()
  await cut(await cluster.leadingNode())
  const after = await cluster.leader()
  assert.is.not(after, before)
  assert.is.not(after, '')
})

test('a node restarts: its addresses and its pods are answered again within seconds', async () => {
  // After the cuts the provider leads all addresses through the worker that was not cut last.
  const podsOfOther = (name: string) => through(name, addressesOfPodsOn.get(otherWorker(name)))
  const name = workers.find((one) => podsOfOther(one).length > 0) ?? ''
  const moving = podsOfOther(name)
  const node = nodeCalled(name)
  await look()
  await node.powerOff()
  await node.powerOn()
  const own = await gapsOf(addressesOfPodsOn.get(name) ?? [])
  const gaps = await gapsOf(moving)
  measured(`a restart of a node, without an answer of its pods: ${own.join(', ')} ms`)
  measured(`of other pods, at each address on that node: ${gaps.join(', ')} ms`)
  assert.ok(gaps.length > 0 && Math.max(...gaps) < 45_000, gaps.join())
  assert.ok(Math.max(...own) < 90_000, own.join())
  await cluster.bothReady()
})

test.after(async () => {
  for (const client of clients.values()) await client.stop()
  await cluster.close()
})

test.run()
