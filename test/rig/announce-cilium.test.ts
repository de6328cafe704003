// The product, Cilium's own LB IPAM and BGP, and real routers: the effects of a Service's address on the network.
import { dirname } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type CiliumRig, setCiliumRig } from '../../sandbox/rig/cilium.ts'
import type { Result } from '../../commands/doctor/check.ts'
import { dialects } from '../../sandbox/dialects.ts'
import { allPages } from '../docs/pages.ts'
import { typeCommands } from '../docs/type-commands.ts'
import { typed } from '../whole/command-line.ts'
import type { Part } from '../../sandbox/rig/metallb.ts'
import { bgpFacts } from '../whole/dialect-bgp.ts'
import { dialectOf } from '../whole/dialects.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { ipOf, simulatedNodes } from '../whole/simulated-nodes.ts'
import { mapAll } from '../../lib/map-all.ts'
import type { Service } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { shownIn } from '../whole/stored.ts'
import { type TestStage, openStage, routes } from '../whole/test-stage.ts'

const { provider, password = { setting: '', value: '' } } = bgpFacts('equinix-metal')
const settings = {
  ...dialectOf('equinix-metal').here,
  METAL_LOAD_BALANCER: 'cilium:///',
  [password.setting]: password.value,
}

type Scene = TestStage & { rig: CiliumRig; machines: string[]; agents: Part[] }

/** Runs the product, Cilium, and two machines. */
async function onScene(play: (scene: Scene) => Promise<void>): Promise<void> {
  const stage = await openStage()
  const { startNode } = simulatedNodes(stage)
  const rig = await setCiliumRig({ controlPlane: stage.controlPlane, password: password.value })
  const machines: string[] = []
  const agents: Part[] = []
  try {
    await stage.startSwept({ env: settings })
    for (const name of ['node-a', 'node-b']) {
      const address = ipOf(await startNode(name), 4, 'private')
      agents.push((await rig.node({ name, address })).agent)
      machines.push(address)
    }
    await play({ ...stage, rig, machines, agents })
  } finally {
    await rig.stop()
    await stage.close()
  }
}

async function create(scene: Scene, name: string, spec: object = {}): Promise<string> {
  const created = await scene.create(loadBalancer(name, { spec: { ...spec } }))
  return created.spec.loadBalancerIP ?? ''
}

/** Waits until the Service shows the address, and every router sends packets for it to every machine. */
function leadsTo(scene: Scene, name: string, address: string): Promise<true> {
  return leadsToMachines(scene, { name, address, machines: scene.machines })
}

type Shown = { name: string; address: string; machines: string[] }

/** Waits until the Service shows the address, and every router sends packets for it only to these machines. */
function leadsToMachines(scene: Scene, { name, address, machines }: Shown): Promise<true> {
  const wanted = eachRouter(machines).join()
  return eventually(`${name} shows ${address}, which leads to ${machines.join(' and ')}`, async (observe) => {
    const [shown, ways] = observe(await Promise.all([scene.service(name), waysTo(scene, address)]))
    return (shownIn(shown) === address && ways.join() === wanted) || undefined
  })
}

function leadsNowhere(scene: Scene, address: string): Promise<true> {
  return eventually(
    `nothing leads to ${address}`,
    async (observe) => observe(await waysTo(scene, address)).length === 0 || undefined,
  )
}

async function waysTo({ rig }: Scene, address: string): Promise<string[]> {
  const ways = (await rig.routers.routes()).filter(({ prefix }) => prefix === `${address}/32`)
  return ways.map(({ router, via }) => `${router} ${via}`).toSorted()
}

function eachRouter(machines: string[]): string[] {
  return provider.routers.flatMap((router) => machines.map((machine) => `${router} ${machine}`)).toSorted()
}

/** Waits for an Event with this text. */
function says(scene: Scene, text: string): Promise<true> {
  return eventually(`an Event says: ${text}`, async (observe) => {
    const messages = await scene.run('get', 'events', '-A', '-o', 'jsonpath={.items[*].message}')
    return observe(messages).includes(text) || undefined
  })
}

function objects(scene: Scene): Promise<string> {
  const kinds = ['loadbalancerippools', 'bgpclusterconfigs', 'bgppeerconfigs', 'bgpadvertisements']
  const all = [...kinds, 'bgpnodeconfigoverrides'].map((kind) => `cilium${kind}`).join()
  return scene.run('get', all, '-o', 'name', '-l', 'app.kubernetes.io/managed-by=eip-admission')
}

/** The findings of `doctor` about announcing. */
async function announcingFindings({ cloud, project, token, controlPlane }: Scene): Promise<string[]> {
  const env = { ...dialects['equinix-metal'].env({ url: cloud.url, project, token }), ...settings }
  const flags = ['--cloud-provider=equinixmetal', `--base-url=${cloud.url}`, `--kubeconfig=${controlPlane.kubeconfig}`]
  const { stdout } = await typed(['doctor', ...flags, '-o', 'json'], { PATH: process.env['PATH'] ?? '', ...env })
  const { results } = JSON.parse(stdout) as { results: Result[] }
  return results
    .filter(({ section, level }) => section === 'Announcing' && level !== 'ok' && level !== 'manual')
    .map(({ level, what }) => `${level}: ${what}`)
}

/** Types the guide: every command finds what it names. */
async function typeGuide({ controlPlane, dir }: Scene): Promise<void> {
  const guide = allPages().find(({ file }) => file === 'docs/guides/cilium.md')
  const blocks = guide?.blocks.filter(({ lang }) => lang === 'sh') ?? []
  assert.ok(blocks.length > 0)
  for (const { text } of blocks) {
    const env = {
      ...process.env,
      KUBECONFIG: controlPlane.kubeconfig,
      PATH: `${dirname(controlPlane.kubectl)}:${process.env['PATH']}`,
    }
    const { code, printed } = await typeCommands({ commands: text, dir, env, patienceMs: 30_000 })
    assert.is(code, 0, printed)
    assert.not.match(printed, 'No resources found')
  }
}

/** Checks that no route to a deleted Service is left when its address is released. */
async function leavesInOrder(scene: Scene, name: string, address: string): Promise<void> {
  const { calls, latency } = scene.cloud.control
  calls.clear()
  // A read from the cloud precedes the release, which gives agents and routers time, although nothing waits for them.
  latency.set({ on: 'GET', ms: 2_000 })
  await scene.run('delete', 'service', name)
  await scene.gone(name)
  const released = await eventually('the address is released', () => calls.all(routes.release)[0])
  latency.clear()
  const all = scene.machines.length * provider.routers.length
  const lost = await eventually('no way is left', (observe) => {
    const gone = scene.rig.routers.changes().filter(({ what, prefix }) => what === 'lost' && prefix === `${address}/32`)
    return observe(gone).length === all ? gone : undefined
  })
  const lostAtMs = Math.max(...lost.map(({ atMs }) => atMs))
  assert.ok(lostAtMs < Date.parse(released.at), `lost at ${lostAtMs}, released at ${released.at}`)
}

test('Cilium gives a Service our address, routers have ways to it, and it leaves in order', () =>
  onScene(async (scene) => {
    const address = await create(scene, 'web')
    await leadsTo(scene, 'web', address)
    await scene.settled('web')
    // An agent reports its sessions every five seconds.
    await eventually('doctor finds nothing', async (observe) => {
      return observe(await announcingFindings(scene)).length === 0 || undefined
    })
    await typeGuide(scene)
    // Two Services of one namespace show one address.
    assert.is(await create(scene, 'web-too', { loadBalancerIP: address, ports: [{ port: 443 }] }), address)
    await leadsTo(scene, 'web-too', address)
    await scene.run('delete', 'service', 'web-too')
    await scene.gone('web-too')
    await leadsTo(scene, 'web', address)

    // A tenant of another namespace tries to share the address: one Service requests it, and another only has its key.
    const sharing = { 'lbipam.cilium.io/sharing-key': address, 'lbipam.cilium.io/sharing-cross-namespace': '*' }
    const others = { asking: { 'lbipam.cilium.io/ips': address, ...sharing }, joining: sharing }
    for (const [name, annotations] of Object.entries(others))
      await scene.send(
        ['create'],
        loadBalancer(name, {
          namespace: 'kube-public',
          annotations,
          spec: { loadBalancerClass: 'io.cilium/bgp-control-plane', ports: [{ port: 8080 }] },
        }),
      )
    // While Cilium's operator is down, nothing is released.
    const leaving = await create(scene, 'leaving')
    await leadsTo(scene, 'leaving', leaving)
    await scene.rig.operator.stop('SIGKILL')
    await scene.run('delete', 'service', 'leaving', '--wait=false')
    await leadsNowhere(scene, leaving)
    await scene.run('annotate', 'service', 'web', 'a=b')
    assert.is(shownIn(await scene.service('leaving')), leaving)
    assert.ok(scene.reserved().some((one) => one.address === leaving))
    await scene.rig.operator.start()
    await scene.gone('leaving')
    await eventually('it is released', () => !scene.reserved().some((one) => one.address === leaving) || undefined)
    for (const name of Object.keys(others)) {
      const other = await scene.client.get(services, { namespace: 'kube-public', name })
      assert.equal(other?.status?.loadBalancer, {}, `${name}: our pool serves no other Service`)
    }

    await leavesInOrder(scene, 'web', address)
    await scene.run('delete', 'service', ...Object.keys(others), '-n', 'kube-public')
    await eventually(
      'nothing that we wrote is left',
      async (observe) => observe(await objects(scene)) === '' || undefined,
    )
  }))

test("a person's own configuration of Cilium stays as it is, and Events say what is in the way", () =>
  onScene(async (scene) => {
    const apiVersion = 'cilium.io/v2'
    await scene.send(['create'], {
      apiVersion,
      kind: 'CiliumBGPClusterConfig',
      metadata: { name: 'fabric' },
      spec: { bgpInstances: [{ name: 'fabric', localASN: 64999 }] },
    })
    // Another program has assigned this Service an address, and Cilium's LB IPAM is idle.
    await scene.send(['create'], loadBalancer('lan', { spec: { loadBalancerClass: 'io.cilium/l2-announcer' } }))
    const status = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip: '192.0.2.99' }] } } })
    await scene.run('patch', 'service', 'lan', '--subresource=status', '--type=merge', '-p', status)
    const address = await create(scene, 'web')
    await says(scene, 'into the status of Service default/lan')
    assert.is(await objects(scene), '')
    assert.is(shownIn(await scene.service('lan')), '192.0.2.99')
    await scene.run('delete', 'service', 'lan')

    // Cilium follows the first ClusterConfig of a node. Without that one, the sessions of ours begin.
    await says(scene, 'narrow its nodeSelector')
    assert.equal(await waysTo(scene, address), [])
    const found = await announcingFindings(scene)
    for (const node of ['node-a', 'node-b'])
      assert.ok(
        found.some((text) => text.startsWith(`error: node ${node}`) && text.includes('narrow its')),
        found.join('\n'),
      )
    await scene.run('delete', 'ciliumbgpclusterconfig', 'fabric')
    await leadsTo(scene, 'web', address)

    const network = address.replace(/\d+$/, '0/24')
    await scene.send(['create'], {
      apiVersion,
      kind: 'CiliumLoadBalancerIPPool',
      metadata: { name: 'wide' },
      spec: { blocks: [{ cidr: network }], serviceSelector: { matchLabels: { of: 'nobody' } } },
    })
    const second = await create(scene, 'second')
    await says(scene, `Remove ${second} from the blocks of wide`)
    assert.is(shownIn(await scene.service('second')), undefined)
    await leadsTo(scene, 'web', address)
    await scene.run('delete', 'ciliumloadbalancerippool', 'wide')
    await leadsTo(scene, 'second', second)
  }))

/** Creates ready endpoints of a Service on these nodes. */
async function endpointsOn(scene: Scene, service: string, nodes: string[]): Promise<void> {
  await scene.send(['apply'], {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: service, namespace: 'default', labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    endpoints: nodes.map((nodeName, n) => ({ addresses: [`10.9.0.${n + 1}`], nodeName, conditions: { ready: true } })),
    ports: [{ port: 80 }],
  })
}

test('with policy Local an address follows its endpoints, and 200 Services at once have their routes', () =>
  onScene(async (scene) => {
    const [one = '', other = ''] = scene.machines
    const name = 'local'
    const address = await create(scene, name, { selector: null, externalTrafficPolicy: 'Local' })
    await endpointsOn(scene, name, ['node-a'])
    await leadsToMachines(scene, { name, address, machines: [one] })
    await endpointsOn(scene, name, ['node-a', 'node-b'])
    await leadsTo(scene, name, address)
    await endpointsOn(scene, name, ['node-b'])
    await leadsToMachines(scene, { name, address, machines: [other] })
    await endpointsOn(scene, name, ['node-a', 'node-b'])
    await leadsTo(scene, name, address)
    const [, agent] = scene.agents
    await agent?.stop('SIGKILL')
    await leadsToMachines(scene, { name, address, machines: [one] })
    await agent?.start()
    await leadsTo(scene, name, address)

    // A person writes another password into the Secret. The next reconcile repairs it, and the sessions begin again.
    const wrong = JSON.stringify({ stringData: { password: 'another' } })
    await scene.run('patch', 'secret', 'eip-admission-bgp', '-n', 'kube-system', '-p', wrong)
    await eventually('no session is left', async (observe) => {
      return observe(await scene.rig.routers.sessions()).length === 0 || undefined
    })
    await scene.run('annotate', 'service', name, 'a=b')
    await leadsTo(scene, name, address)

    const names = Array.from({ length: 200 }, (_, n) => `web-${n}`)
    await mapAll(
      names,
      (each) => scene.client.create(services, loadBalancer(each, { namespace: 'default' }) as Service),
      8,
    )
    const ways = (names.length + 1) * provider.routers.length * scene.machines.length
    await eventually(
      `${ways} ways`,
      async (observe) => observe((await scene.rig.routers.routes()).length) === ways || undefined,
    )
    assert.is(scene.reserved().length, names.length + 1)
  }))

test.run()
