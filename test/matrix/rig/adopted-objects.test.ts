// Takes over a predecessor's MetalLB objects while routers have routes: no address loses its last route.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { bgpAdvertisements, bgpPeers, ipAddressPools } from '../../../announcers/metallb/resources.ts'
import type { KubeObject, Node } from '../../../kube/objects.ts'
import { type Resource, nodes } from '../../../kube/resource.ts'
import type { Product } from '../../../sandbox/product.ts'
import { type Rig, setRig } from '../../../sandbox/rig/rig.ts'
import { type Predecessor, objectsOf } from '../../announcers/predecessors.ts'
import { allLead, waysSince } from '../../rig/ways.ts'
import { typed } from '../../whole/command-line.ts'
import { serviceTag } from '../../whole/dialects.ts'
import { eventually } from '../../whole/eventually.ts'
import { loadBalancer } from '../../whole/manifests.ts'
import { ipOf, simulatedNodes } from '../../whole/simulated-nodes.ts'
import type { TestStage } from '../../whole/test-stage.ts'
import { dialect, openStage } from '../dialect.ts'

const { password, provider, source } = dialect.bgp
const namespace = 'metallb-system'

type Case = {
  predecessor: Predecessor
  setting: string
  machines: string[]
  /** How often a router may lose each machine's session: once, if a field must change. */
  resets: 0 | 1
}

const three = ['node-a', 'node-b', 'node-c']
const cases: Partial<Record<string, Case[]>> = {
  'cherry-servers': [
    { predecessor: 'Cherry main', setting: 'metallb:///metallb-system/', machines: three, resets: 0 },
    // With FRR the product writes no source address for a node, and all nodes share the rig's single network.
    {
      predecessor: 'Cherry main for FRR',
      setting: 'metallb:///metallb-system/?bgp-peer-mode=frr',
      machines: ['node-a'],
      resets: 1,
    },
  ],
}

type Scene = TestStage & {
  rig: Rig
  provider: typeof provider
  machines: { name: string; address: string }[]
  addresses: Map<string, string>
  takeOver: () => Promise<Product>
}

async function onScene(of: Case, play: (scene: Scene) => Promise<void>): Promise<void> {
  const stage = await openStage({ controllers: ['endpoints-controller'] })
  const rig = await setRig({
    controlPlane: stage.controlPlane,
    metallb: { version: '0.16.1', webhooks: true, mode: of.setting.includes('frr') ? 'frr' : 'native' },
    provider,
    password: password?.value,
  })
  try {
    const settings = { ...dialect.here, ...(password && { [password.setting]: password.value }) }
    const machines = await withNodes(stage, { rig, names: of.machines, settings })
    const addresses = await served(stage)
    await configured(stage, { of, machines, addresses })
    const takeOver = () => stage.startSwept({ env: { ...settings, [dialect.loadBalancer]: of.setting } })
    await play({ ...stage, rig, provider, machines, addresses, takeOver })
  } finally {
    await rig.stop()
    await stage.close()
  }
}

type Names = { rig: Rig; names: string[]; settings: Record<string, string> }

/** Makes nodes with BGP, as a predecessor leaves them. The product that initialized them remembers nothing. */
async function withNodes(stage: TestStage, { rig, names, settings }: Names): Promise<Scene['machines']> {
  const product = await stage.startSwept({ env: settings })
  const { startNode } = simulatedNodes(stage)
  const machines: Scene['machines'] = []
  for (const name of names) {
    const address = ipOf(await startNode(name), 4, source)
    await rig.node({ name, address })
    machines.push({ name, address })
  }
  await product.stop()
  await stage.run('delete', 'secret', 'eip-admission-peers', '-n', 'eip-admission', '--ignore-not-found')
  return machines
}

const names = ['web', 'api', 'shop', 'mail']

/** Creates Services as a predecessor leaves them: with reservations, its finalizer, and addresses in spec. */
async function served(stage: TestStage): Promise<Map<string, string>> {
  const cluster = `cluster=${await stage.run('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}')}`
  const addresses = new Map<string, string>()
  for (const name of names) {
    const { address } = await stage.order([dialect.usage, serviceTag(dialect, `default/${name}`), cluster])
    await stage.create(loadBalancer(name, { spec: { selector: { app: 'web' }, loadBalancerIP: address } }))
    const finalizers = ['service.kubernetes.io/load-balancer-cleanup']
    await stage.run('patch', 'service', name, '-p', JSON.stringify({ metadata: { finalizers } }))
    addresses.set(name, address)
  }
  return addresses
}

/** Writes the predecessor's objects in the API version that it uses. */
async function configured(
  stage: TestStage,
  { of, machines, addresses }: { of: Case } & Pick<Scene, 'machines' | 'addresses'>,
): Promise<void> {
  const node = await stage.client.get<Node>(nodes, { name: machines[0]?.name ?? '' })
  const region = node?.metadata.labels?.['topology.kubernetes.io/region']
  const objects = objectsOf(of.predecessor, {
    nodes: machines,
    routers: provider.routers,
    localAsn: provider.machines.asn,
    peerAsn: provider.asn,
    password: password?.value,
    services: [...addresses].map(([name, address]) => ({ name, address })),
    ...(region !== undefined && { region }),
  })
  const { code, stderr } = await stage.kubectl(['create', '-f', '-'], {
    apiVersion: 'v1',
    kind: 'List',
    items: objects,
  })
  if (code !== 0) throw new Error(stderr)
}

/** Waits until our label and a hold time show that we took over the objects. */
function isOurs(scene: Scene): Promise<true> {
  return eventually('every object is taken over', async (observe) => {
    const [peers, pools, advertisements] = await Promise.all([
      scene.client.list(bgpPeers, { namespace }),
      scene.client.list(ipAddressPools, { namespace }),
      scene.client.list(bgpAdvertisements, { namespace }),
    ])
    const all = [...peers.items, ...pools.items, ...advertisements.items].map(({ metadata }) => metadata)
    observe(peers.items.map(({ spec }) => spec))
    const isLabelled = all.every(({ labels }) => labels?.['app.kubernetes.io/managed-by'] === 'eip-admission')
    return (isLabelled && peers.items.every(({ spec }) => spec.holdTime === '30s')) || undefined
  })
}

async function objectNames({ client }: Scene): Promise<string[]> {
  const kinds: Resource<KubeObject>[] = [bgpPeers, ipAddressPools, bgpAdvertisements]
  const lists = await Promise.all(kinds.map((kind) => client.list(kind, { namespace })))
  return lists.flatMap(({ items }) => items).map(({ metadata }) => metadata.name)
}

/** Deletes a Service as a predecessor does: its pool, and the advertisement when it names no other pool. */
async function deletedByPredecessor(scene: Scene, name: string): Promise<void> {
  const { client } = scene
  const pool = `default.${name}`
  await scene.run('patch', 'service', name, '--type=merge', '-p', JSON.stringify({ metadata: { finalizers: null } }))
  await scene.run('delete', 'service', name, '--wait=false')
  await scene.run('delete', 'ipaddresspool', pool, '-n', namespace)
  const at = { namespace, name: 'equinix-metal-bgp-adv' }
  const advertisement = await client.get(bgpAdvertisements, at)
  const left = (advertisement?.spec?.ipAddressPools ?? []).filter((one) => one !== pool)
  if (left.length === 0) await client.remove(bgpAdvertisements, at)
  else await client.patch(bgpAdvertisements, { ...at, patch: { merge: { spec: { ipAddressPools: left } } } })
}

for (const of of cases[dialect.name] ?? []) {
  test(`objects of ${of.predecessor} are taken over, and given back, without an address without a way`, () =>
    onScene(of, async (scene) => {
      const all = [...scene.addresses.values()]
      await allLead(scene, all)
      const before = await objectNames(scene)
      const startedMs = Date.now()
      let product = await scene.takeOver()
      await isOurs(scene)
      for (const name of names) assert.is(await scene.settled(name), scene.addresses.get(name))
      await allLead(scene, all)
      const taken = await waysSince(scene, startedMs)
      // If a machine's session must change, the other router still has a route.
      if (of.machines.length > 1) assert.ok(taken.fewestAtARouter > 0, JSON.stringify(taken))
      assert.ok(taken.fewestAnywhere > 0, JSON.stringify(taken))
      assert.equal(taken.lost, [of.resets * of.machines.length])
      assert.equal((await objectNames(scene)).toSorted(), before.toSorted())

      const againMs = Date.now()
      for (let n = 0; n < 2; n += 1) {
        await product.stop()
        product = await scene.takeOver()
        await sleep(3000)
      }
      assert.equal((await waysSince(scene, againMs)).lost, [0], 'a restart touches no session')

      await product.stop()
      const backMs = Date.now()
      const [first = '', second = '', ...others] = names
      await deletedByPredecessor(scene, first)
      const { stdout } = await typed(['cleanup', `--kubeconfig=${scene.controlPlane.kubeconfig}`, '--yes'])
      assert.match(stdout, `stay in namespace ${namespace}`)
      assert.match(stdout, `Annotations with BGP peers stay on ${of.machines.length} node`)
      await deletedByPredecessor(scene, second)
      for (const name of [first, second]) scene.addresses.delete(name)
      await allLead(
        scene,
        others.flatMap((name) => scene.addresses.get(name) ?? []),
      )
      assert.equal((await waysSince(scene, backMs)).lost, [0], 'the other addresses stay announced')
    }))
}

test.run()
