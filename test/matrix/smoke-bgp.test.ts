// BGP in brief, once in each dialect that has it. announcing.test.ts and peering.test.ts show it in depth.
import { isDeepStrictEqual } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { metallbView, sessionText } from '../whole/metallb-view.ts'
import { ipOf, simulatedNodes } from '../whole/simulated-nodes.ts'
import { dialect, openStage } from './dialect.ts'

const stage = await openStage()
const { bgp, here } = dialect
const [{ version, setting } = { version: '0.16.1', setting: '' } as const] = bgp.metallb
const metallb = metallbView(stage, version)
await stage.run('create', 'namespace', 'metallb-system')
await metallb.install()
await stage.startSwept({ env: { ...here, [dialect.loadBalancer]: setting } })

test('a node shows its peers, and MetalLB gets the sessions and the pool of a Service', async () => {
  const { startNode, node } = simulatedNodes(stage)
  const source = ipOf(await startNode('node-a'), 4, bgp.source)
  const expected = bgp.says(source)
  await eventually('the node shows its peers', async (observe) => {
    const { annotations = {} } = observe(await node('node-a'))?.metadata ?? {}
    const found = Object.fromEntries(Object.keys(expected).map((name) => [name, annotations[name]]))
    return isDeepStrictEqual(found, expected) || undefined
  })
  const { spec } = await stage.create(loadBalancer('announced'))
  await eventually('MetalLB has the pool', async (observe) => {
    return observe(await metallb.pools()).includes(`${spec.loadBalancerIP}/32`) || undefined
  })
  const { asn: routerAsn, machines, routers } = bgp.provider
  const sessions = routers.map((router) =>
    sessionText({ node: 'node-a', source, asn: machines.asn, router, routerAsn }),
  )
  await eventually('MetalLB has the sessions', async (observe) => {
    return observe(await metallb.sessions()).join() === sessions.toSorted().join() || undefined
  })
  await stage.run('delete', 'service', 'announced', '--timeout=120s')
  await stage.gone('announced')
  assert.not((await metallb.pools()).includes(`${spec.loadBalancerIP}/32`))
})

test.after(() => stage.close())

test.run()
