// BGP at Cherry Servers: a project's ASN comes late, routers belong to a region, and other tools switch BGP off.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { bgpPeers } from '../../announcers/metallb/resources.ts'
import type { Product } from '../../sandbox/product.ts'
import { dialectOf } from './dialects.ts'
import { eventually } from './eventually.ts'
import { type Device, ipOf, simulatedNodes } from './simulated-nodes.ts'
import { loadBalancer } from './manifests.ts'
import { metallbView, sessionText } from './metallb-view.ts'
import { once } from './once.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage({ dialect: 'cherry-servers' })
const { control } = stage.cloud
const { register, settled, node } = simulatedNodes(stage)
const { here, loadBalancer: setting, prefix } = dialectOf('cherry-servers')
const metallb = metallbView(stage, '0.16.1')
const namespace = 'metallb-system'

let product: Product | undefined
async function run(url: string): Promise<void> {
  await product?.stop()
  const env = { ...here, [setting]: url, EIP_PEER_REFRESH_INTERVAL: '1s' }
  product = await stage.serve({ env })
}

const sources = new Map<string, string>()
async function joins(name: string, region: string): Promise<void> {
  const machine = control.devices.add({ hostname: name, region }) as unknown as Device
  sources.set(name, ipOf(machine, 4, 'public'))
  await register(name, { nodeIp: ipOf(machine, 4, 'private') })
  await settled(name)
}

const fact = async (name: string, datum: string) => (await node(name))?.metadata.annotations?.[`${prefix}${datum}`]
const routersOf = {
  lithuania: { asn: 16_125, routers: ['46.166.166.122', '46.166.166.123'] },
  netherlands: { asn: 64_992, routers: ['192.0.2.21', '192.0.2.22'] },
}
const asn = 64_667
const expected = (name: string, { asn: routerAsn, routers }: { asn: number; routers: string[] }) =>
  routers.map((router) => sessionText({ node: name, source: sources.get(name) ?? '', asn, router, routerAsn }))

/** Runs the product with node `lithuania`; the project gets its ASN late. */
const joinLithuania = once(async () => {
  control.setLocalAsn({ afterMs: 3_600_000 })
  await stage.run('create', 'namespace', namespace)
  await metallb.install()
  await run('metallb:///metallb-system/')
  await joins('lithuania', 'LT-Siauliai')
  const { spec } = await stage.create(loadBalancer('web'))
  await eventually('BGP is on for the machine', () => stage.calls('PUT /servers/{id}') > 0 || undefined)
  await eventually('MetalLB has the pool', async (observe) => {
    return observe(await metallb.pools()).includes(`${spec.loadBalancerIP}/32`) || undefined
  })
  const looks = stage.calls('GET /projects/{id}')
  await eventually('the product looks again', () => stage.calls('GET /projects/{id}') > looks + 5 || undefined)
  assert.equal([await fact('lithuania', 'bgp-peers-0-node-asn'), await metallb.sessions()], [undefined, []])
  for (const { id } of control.projects.all()) control.projects.assignAsn(String(id))
})

test('while the project has no ASN a node shows no peers and MetalLB has no sessions', joinLithuania)

test('when the project gets its ASN the node and MetalLB get it', async () => {
  await joinLithuania()
  await eventually('MetalLB has the sessions', async (observe) => {
    return observe(await metallb.sessions()).join() === expected('lithuania', routersOf.lithuania).join() || undefined
  })
  await eventually('the node shows it', async () => {
    return (await fact('lithuania', 'bgp-peers-0-node-asn')) === String(asn) || undefined
  })
})

const joinNetherlands = once(async () => {
  await joinLithuania()
  await joins('netherlands', 'NL-Amsterdam')
  const wanted = [
    ...expected('lithuania', routersOf.lithuania),
    ...expected('netherlands', routersOf.netherlands),
  ].toSorted()
  await eventually('MetalLB has the sessions', async (observe) => {
    return observe(await metallb.sessions()).join() === wanted.join() || undefined
  })
  await eventually('the node shows them', async (observe) => {
    const output = observe(
      await Promise.all(['ip', 'asn'].map((datum) => fact('netherlands', `bgp-peers-1-peer-${datum}`))),
    )
    return output.join() === '192.0.2.22,64992' || undefined
  })
})

test('a machine in another region gets sessions with the routers of that region', joinNetherlands)

test('BGP that was disabled for the project and its machines is enabled again, and no session is removed', async () => {
  await joinNetherlands()
  const before = await metallb.sessions()
  const shows = () => control.devices.all().map(({ bgp }) => (bgp as { enabled: boolean }).enabled)
  const [project] = control.projects.all().map(({ id }) => String(id))
  for (const { id } of control.devices.all()) control.bgp.turnOff(String(id))
  control.bgp.turnOffProject(project ?? '')
  await eventually('it is on again', () => {
    const isOn = control.projects.all().map(({ bgp }) => (bgp as { enabled: boolean }).enabled)
    return [...isOn, ...shows()].every(Boolean) || undefined
  })
  assert.equal(await metallb.sessions(), before)
})

test('with bgp-peer-mode=frr each router is one multihop peer for the nodes of its region', async () => {
  await joinNetherlands()
  await run('metallb:///metallb-system/?bgp-peer-mode=frr')
  const wanted = Object.entries(routersOf).flatMap(([name, { asn: routerAsn, routers }]) =>
    routers.map((router) => ({ nodes: [name], router, routerAsn, asn, isMultihop: true, source: undefined })),
  )
  await eventually('the peers are so', async (observe) => {
    const { items } = await stage.client.list(bgpPeers, { namespace })
    const peers = items.map(
      ({ spec: { myASN, peerASN, peerAddress, ebgpMultiHop, sourceAddress, nodeSelectors } }) => ({
        // An existing peer may keep its selector, which means the same for a single node.
        nodes: nodeSelectors?.flatMap(({ matchExpressions = [], matchLabels = {} }) => [
          ...matchExpressions.flatMap(({ values }) => values),
          ...Object.values(matchLabels),
        ]),
        router: peerAddress,
        routerAsn: peerASN,
        asn: myASN,
        isMultihop: ebgpMultiHop,
        source: sourceAddress,
      }),
    )
    const inOrder = (peers: { router?: string | undefined }[]) =>
      JSON.stringify(peers.toSorted((one, two) => (one.router ?? '').localeCompare(two.router ?? '')))
    return inOrder(observe(peers)) === inOrder(wanted) || undefined
  })
})

test('with bgp-peer-mode=none our peers are removed, and the pools stay', async () => {
  await joinNetherlands()
  const before = await metallb.pools()
  await run('metallb:///metallb-system/?bgp-peer-mode=none')
  await eventually(
    'the peers no longer exist',
    async (observe) => observe(await metallb.sessions()).length === 0 || undefined,
  )
  assert.equal(await metallb.pools(), before)
})

test.after(() => stage.close())

test.run()
