// Packets for an address that the cloud assigns to one machine. A real kube-proxy accepts them, though no interface of
// the machine has the address. They follow the address to another machine when the first one fails.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { endpointSlices } from '../../kube/resource.ts'
import { type Answer, type AssignedRig, clientAddress, podPort, setAssignedRig } from '../../sandbox/assigned/rig.ts'
import type { Product } from '../../sandbox/product.ts'
import type { ProxyMode } from '../../sandbox/rig/kube-proxy.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { simulatedNodes } from '../whole/simulated-nodes.ts'
import { shownIn } from '../whole/stored.ts'
import { openStage, type TestStage } from '../whole/test-stage.ts'

const settings = { HCLOUD_LOCATION: 'fsn1', HCLOUD_LOAD_BALANCER: 'assign:///' }
const names = ['node-a', 'node-b']
const podOf = (name: string) => `10.244.${names.indexOf(name)}.2`

type Scene = {
  stage: TestStage<'hetzner'>
  rig: AssignedRig
  leadsTo: (address: string) => string | undefined
  leader: Product
}

async function onScene(mode: ProxyMode, play: (scene: Scene) => Promise<void>): Promise<void> {
  const stage = await openStage({ dialect: 'hetzner' })
  const { control } = stage.cloud
  const { register, say, settled } = simulatedNodes(stage)
  const machines = new Map<string, string>()
  const leadsTo = (address: string | null) => machines.get(control.route(address ?? '') ?? '')
  const routes = () => new Map(stage.reserved().map(({ address }) => [address ?? '', leadsTo(address)] as const))
  const rig = await setAssignedRig({ controlPlane: stage.controlPlane, mode, routes })
  try {
    const leader = await stage.startSwept({ env: settings })
    for (const name of names) {
      const device = control.devices.add({ hostname: name }) as { id: number; private_net: { ip: string }[] }
      machines.set(String(device.id), name)
      const address = device.private_net[0]?.ip ?? ''
      await register(name, { nodeIp: address })
      await rig.start({ name, address, pod: podOf(name) })
      await settled(name)
      await say(name, 'True')
    }
    await play({ stage, rig, leadsTo, leader })
  } finally {
    await rig.stop()
    await stage.close()
  }
}

/**
 * Creates a Service whose endpoints are the pods of these nodes, and returns its address once it is routed to a node.
 */
async function create({ stage }: Scene, name: string, of: { pods: string[]; policy: 'Cluster' | 'Local' }) {
  const ports = [{ port: 80, targetPort: podPort }]
  await stage.create(loadBalancer(name, { spec: { ports, externalTrafficPolicy: of.policy } }))
  await stage.client.create(endpointSlices, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'default', name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: of.pods.map((node) => ({ addresses: [podOf(node)], nodeName: node, conditions: { ready: true } })),
    ports: [{ name: '', port: podPort, protocol: 'TCP' }],
  })
  return eventually('its status shows it', async () => shownIn(await stage.service(name)))
}

async function answered(client: { answers: () => Answer[] }, is: (answer: Answer) => boolean): Promise<Answer> {
  return eventually('a client is answered', (observe) => {
    const last = observe(client.answers().at(-1))
    return last && is(last) ? last : undefined
  })
}

for (const mode of ['nftables', 'iptables'] as const)
  test(`with ${mode}, packets for an address that no interface has reach pods, and follow it when its node no longer exists`, () =>
    onScene(mode, async (scene) => {
      const { rig, leadsTo, stage } = scene
      const cluster = await create(scene, 'cluster', { pods: names, policy: 'Cluster' })
      const client = rig.client(`http://${cluster}/`)
      await answered(client, ({ pod }) => pod !== undefined)
      // A pod on another node sees the node that forwarded the packet.
      const from = leadsTo(cluster)
      await answered(client, ({ pod, client: seen }) => pod !== undefined && pod !== from && seen !== clientAddress)

      // If the pod is on the node itself, the client keeps its address.
      const local = await create(scene, 'local', { pods: names, policy: 'Local' })
      const { pod } = await answered(rig.client(`http://${local}/`), ({ client: seen }) => seen === clientAddress)
      assert.is(pod, leadsTo(local))

      // No Service has this port. A node that does not have the address itself sends the packet back, until it dies.
      await answered(rig.client(`http://${local}:81/`), (answer) => answer.error?.includes('EHOSTUNREACH') ?? false)
      for (const name of names) await rig.network.setAlias(name, local, 'present')
      const refused = rig.client(`http://${local}:81/`)
      await answered(refused, (answer) => answer.error?.includes('ECONNREFUSED') ?? false)
      await answered(rig.client(`http://${local}/`), ({ client: seen }) => seen === clientAddress)

      const holder = leadsTo(local) ?? ''
      await rig.gone(holder)
      const [other = ''] = names.filter((name) => name !== holder)
      const survivor = rig.client(`http://${local}/`)
      await answered(survivor, (answer) => answer.pod === other)
      assert.is(leadsTo(local), other)
      const words = new RegExp(
        `moved from ${holder} to node ${other}: \\d+ probes of node ${holder} failed, the last one: no answer within 1000 ms`,
      )
      await eventually(
        'an Event says why',
        async (observe) =>
          words.test(observe(await stage.run('get', 'events', '--field-selector', 'involvedObject.name=local'))) ||
          undefined,
      )
    }))

/** By then a replica knows which nodes answer. */
const probedMs = 10_000

test('the address of the node on which the leader ran moves as soon as another replica leads, though the node is Ready', () =>
  onScene('nftables', async (scene) => {
    const { rig, leadsTo, stage, leader } = scene
    const address = await create(scene, 'web', { pods: names, policy: 'Cluster' })
    const holder = leadsTo(address) ?? ''
    const [other = ''] = names.filter((name) => name !== holder)
    await stage.start({ env: settings, flags: ['--only=controllers'] })
    const readyMs = performance.now()
    await eventually(
      'the second replica has probed each node',
      () => performance.now() - readyMs > probedMs || undefined,
    )
    await Promise.all([rig.gone(holder), leader.stop('SIGKILL')])
    await answered(rig.client(`http://${address}/`), ({ pod }) => pod === other)
    assert.is(leadsTo(address), other)
  }))

test.run()
