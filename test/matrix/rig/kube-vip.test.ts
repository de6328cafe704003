// The annotations for kube-vip are enough for sessions with the provider's routers, and for routes to a Service.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Machine } from '../../../sandbox/rig/register-machine.ts'
import { createNetwork } from '../../../sandbox/rig/network.ts'
import { startRouters } from '../../../sandbox/rig/routers.ts'
import { startKubeVip, startStandIn } from '../../rig/kube-vip.ts'
import { eventually } from '../../whole/eventually.ts'
import { ipOf, simulatedNodes } from '../../whole/simulated-nodes.ts'
import { loadBalancer } from '../../whole/manifests.ts'
import type { TestStage } from '../../whole/test-stage.ts'
import { dialect, openStage } from '../dialect.ts'

const { kubeVip: output, password, provider, source } = dialect.bgp
const program = process.env.KUBE_VIP_BIN
const what = program === undefined ? 'what reads as kube-vip does' : 'the real kube-vip'
if (program === undefined) console.log('NOT RUN the real kube-vip  KUBE_VIP_BIN names no program (1.2 or later)')

/** Makes a pod on the node ready for the Service. */
async function serves(stage: TestStage, service: string, { name, address }: Machine): Promise<void> {
  await stage.send(['create'], {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: service, labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address], nodeName: name, conditions: { ready: true, serving: true } }],
    ports: [{ port: 80 }],
  })
}

/** The types to which a Service may change before it is deleted, and the fields that change with it. */
const otherTypes = {
  ClusterIP: {},
  ExternalName: { externalName: 'example.com', clusterIP: null, clusterIPs: null, ports: null },
}

const everyRouter = (machine: string) => provider.routers.map((router) => `${router} ${machine}`).join()

test(`${what}: routers have a route to a Service over its node as long as the Service exists`, async () => {
  const network = await createNetwork(provider)
  const stage = await openStage()
  const routers = await startRouters({ dir: stage.dir, provider, password: password?.value })
  const settings = {
    ...dialect.here,
    ...output.env,
    [dialect.loadBalancer]: 'kube-vip://',
    ...(password && { [password.setting]: password.value }),
  }
  const ways = async (address = '') =>
    (await routers.routes())
      .filter(({ prefix }) => prefix === `${address}/32`)
      .map(({ router, via }) => `${router} ${via}`)
      .toSorted()
      .join()
  try {
    await stage.startSwept({ env: settings })
    const machine = ipOf(await simulatedNodes(stage).startNode('node-a'), 4, source)
    for (const [name, value] of Object.entries(output.byHand(machine)))
      await stage.run('annotate', 'node', 'node-a', `${name}=${value}`)
    await network.addMachine(machine)
    const addService = async (name: string) => {
      const { spec } = await stage.create(loadBalancer(name, { spec: { selector: null } }))
      await serves(stage, name, { name: 'node-a', address: machine })
      return spec.loadBalancerIP ?? ''
    }
    const hasWays = (address: string) =>
      eventually(`every router has a way to ${address}`, async (observe) => {
        return observe(await ways(address)) === everyRouter(machine) || undefined
      })
    const hasNone = (address: string) =>
      eventually(
        `no router has a way to ${address}`,
        async (observe) => observe(await ways(address)) === '' || undefined,
      )
    const first = await addService('web')

    const reading = { node: 'node-a', prefix: output.prefix }
    const kubeVip = await (program === undefined
      ? startStandIn(reading, stage.controlPlane)
      : startKubeVip(program, reading, stage.controlPlane))
    try {
      await hasWays(first)
      // It already runs, so it sees every write to this Service.
      const later = await addService('later')
      await hasWays(later)
      await eventually('it is bound', async () => (await stage.record('later'))?.status?.phase === 'Bound' || undefined)
      // The real program needed up to 1.7 s to withdraw an address that it considered changed.
      await sleep(3_000)
      assert.equal([await ways(first), await ways(later)], [everyRouter(machine), everyRouter(machine)])

      await stage.run('patch', 'service', 'later', '-p', JSON.stringify({ spec: { type: 'ClusterIP' } }))
      await eventually(
        'its address is on hold',
        async () => (await stage.record('later'))?.status?.phase === 'Releasing' || undefined,
      )
      await sleep(2_000)
      assert.is(await ways(later), everyRouter(machine), 'kube-vip continues')
      assert.ok(stage.reserved().some(({ address }) => address === later))
      await eventually(
        'the owner reads how to end it',
        async () =>
          (await stage.run('get', 'events', '-o', 'jsonpath={.items[*].message}')).includes(
            `kube-vip announces ${later} until Service default/later is deleted`,
          ) || undefined,
      )
      await stage.run('patch', 'service', 'later', '-p', JSON.stringify({ spec: { type: 'LoadBalancer' } }))
      assert.is((await stage.service('later'))?.spec.loadBalancerIP, later)
      await eventually(
        'and warned',
        async () =>
          (await stage.run('get', 'events', '-o', 'jsonpath={.items[*].message}')).includes(
            'kube-vip may announce nothing for it',
          ) || undefined,
      )
      for (const [type, spec] of Object.entries(otherTypes)) {
        const address = await addService(type.toLowerCase())
        await hasWays(address)
        await stage.run('patch', 'service', type.toLowerCase(), '-p', JSON.stringify({ spec: { type, ...spec } }))
        await stage.run('delete', 'service', type.toLowerCase())
        await hasNone(address)
        await stage.gone(type.toLowerCase())
      }
      for (const [name, address] of Object.entries({ web: first, later })) {
        await stage.run('delete', 'service', name)
        await stage.gone(name)
        await hasNone(address)
      }
    } finally {
      await kubeVip.stop()
    }
  } finally {
    await routers.stop()
    await stage.close()
    await network.remove()
  }
})

test.run()
