// What the product writes for kube-vip is enough for sessions with the provider's routers, and for ways to a Service.
import { test } from 'uvu'
import type { Machine } from '../../../sandbox/rig/metallb.ts'
import { layNetwork } from '../../../sandbox/rig/network.ts'
import { startRouters } from '../../../sandbox/rig/routers.ts'
import { startKubeVip, startStandIn } from '../../rig/kube-vip.ts'
import { eventually } from '../../whole/eventually.ts'
import { ipOf, machineRoom } from '../../whole/kubelet.ts'
import { loadBalancer } from '../../whole/manifests.ts'
import type { World } from '../../whole/world.ts'
import { dialect, openWorld } from '../dialect.ts'

const { kubeVip: said, password, provider, source } = dialect.bgp
const program = process.env.KUBE_VIP_BIN
const what = program === undefined ? 'what reads as kube-vip does' : 'the real kube-vip'
if (program === undefined) console.log('NOT RUN the real kube-vip  KUBE_VIP_BIN names no program (1.2 or later)')

/** A pod on the node is ready for the Service. */
async function serves(world: World, service: string, { name, address }: Machine): Promise<void> {
  await world.send(['create'], {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: service, labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address], nodeName: name, conditions: { ready: true, serving: true } }],
    ports: [{ port: 80 }],
  })
}

test(`${what}: routers have a route to a Service over its node as long as the Service exists`, async () => {
  const network = await layNetwork(provider)
  const world = await openWorld()
  const routers = await startRouters({ dir: world.dir, provider, password: password?.value })
  const settings = {
    ...dialect.here,
    ...said.env,
    [dialect.loadBalancer]: 'kube-vip://',
    ...(password && { [password.setting]: password.value }),
  }
  const ways = async (prefix: string) => (await routers.routes()).filter((way) => way.prefix === prefix)
  try {
    await world.startSwept({ env: settings })
    const machine = ipOf(await machineRoom(world).comesUp('node-a'), 4, source)
    for (const [name, value] of Object.entries(said.byHand(machine)))
      await world.must('annotate', 'node', 'node-a', `${name}=${value}`)
    await network.addMachine(machine)
    const { spec } = await world.create(loadBalancer('web', { spec: { selector: null } }))
    await serves(world, 'web', { name: 'node-a', address: machine })
    const prefix = `${spec.loadBalancerIP}/32`

    const reading = { node: 'node-a', prefix: said.prefix }
    const kubeVip = await (program === undefined
      ? startStandIn(reading, world.controlPlane)
      : startKubeVip(program, reading, world.controlPlane))
    try {
      await eventually('every router has a session with the machine, and a way over it', async (see) => {
        const found = see(await ways(prefix)).map(({ router, via }) => `${router} ${via}`)
        return found.toSorted().join() === provider.routers.map((router) => `${router} ${machine}`).join() || undefined
      })
      await world.must('delete', 'service', 'web')
      await world.gone('web')
      await eventually('no router has a way', async (see) => see(await ways(prefix)).length === 0 || undefined)
    } finally {
      await kubeVip.stop()
    }
  } finally {
    await routers.stop()
    await world.close()
    await network.remove()
  }
})

test.run()
