// What the product writes for kube-vip is enough for sessions with the provider's routers, and for ways to a Service.
import { test } from 'uvu'
import type { Machine } from '../../../sandbox/rig/metallb.ts'
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

/** A pod on the node is ready for the Service. */
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
  const ways = async (prefix: string) => (await routers.routes()).filter((way) => way.prefix === prefix)
  try {
    await stage.startSwept({ env: settings })
    const machine = ipOf(await simulatedNodes(stage).startNode('node-a'), 4, source)
    for (const [name, value] of Object.entries(output.byHand(machine)))
      await stage.run('annotate', 'node', 'node-a', `${name}=${value}`)
    await network.addMachine(machine)
    const { spec } = await stage.create(loadBalancer('web', { spec: { selector: null } }))
    await serves(stage, 'web', { name: 'node-a', address: machine })
    const prefix = `${spec.loadBalancerIP}/32`

    const reading = { node: 'node-a', prefix: output.prefix }
    const kubeVip = await (program === undefined
      ? startStandIn(reading, stage.controlPlane)
      : startKubeVip(program, reading, stage.controlPlane))
    try {
      await eventually('every router has a session with the machine, and a way over it', async (observe) => {
        const found = observe(await ways(prefix)).map(({ router, via }) => `${router} ${via}`)
        return found.toSorted().join() === provider.routers.map((router) => `${router} ${machine}`).join() || undefined
      })
      await stage.run('delete', 'service', 'web')
      await stage.gone('web')
      await eventually('no router has a way', async (observe) => observe(await ways(prefix)).length === 0 || undefined)
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
