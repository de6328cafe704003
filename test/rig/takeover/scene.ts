// A cluster that a predecessor runs: nodes, Services with addresses, MetalLB, and routers with routes to them.
import * as assert from 'uvu/assert'
import { bgpAdvertisements, bgpPeers, ipAddressPools } from '../../../announcers/metallb/resources.ts'
import { listAll } from '../../../kube/list-all.ts'
import type { KubeObject, Node } from '../../../kube/objects.ts'
import { type Resource, nodes } from '../../../kube/resource.ts'
import { daemonSets } from '../../../kube/workloads.ts'
import type { Provider } from '../../../sandbox/rig/providers.ts'
import type { MetallbVersion } from '../../../sandbox/metallb/build.ts'
import { isSince } from '../../../sandbox/rig/metallb-args.ts'
import { type Rig, setRig } from '../../../sandbox/rig/rig.ts'
import { askedBy } from '../../predecessors/asked-by.ts'
import { cherryServers } from '../../predecessors/stand-in/cherry-servers.ts'
import { type PredecessorProgram, commandOf } from '../../predecessors/programs.ts'
import { userOf } from '../../predecessors/manifests.ts'
import { type MetallbView, metallbView } from '../../whole/metallb-view.ts'
import { sayReady, type Workload, installPredecessor, workloadControllers } from '../../predecessors/workload.ts'
import { dialectOf } from '../../whole/dialects.ts'
import { eventually } from '../../whole/eventually.ts'
import { loadBalancer } from '../../whole/manifests.ts'
import { cloudTaints, ipOf, simulatedNodes } from '../../whole/simulated-nodes.ts'
import { type TestStage, openStage, routes } from '../../whole/test-stage.ts'
import { shownIn } from '../../whole/stored.ts'
import { pods } from '../pods/pod.ts'
import { allLead, waysSince } from '../ways.ts'

export const namespace = 'metallb-system'

export type Scene = TestStage & {
  rig: Rig
  provider: Provider
  machines: { name: string; address: string }[]
  /** The addresses that Services have, by name. */
  addresses: Map<string, string>
  predecessor: Workload
  metallb: MetallbView
  /** Adds a machine with its node, and a speaker on it. */
  addMachine(name: string): Promise<void>
  /** Creates a Service, and waits until it shows its address. */
  addService(name: string): Promise<void>
  /** Deletes a Service, and waits until nothing of it is left. */
  deleteService(name: string): Promise<void>
}

export type SceneOptions = {
  program: PredecessorProgram
  machines: string[]
  services: string[]
  /** The version of MetalLB; the newest when absent. */
  metallb?: MetallbVersion
}

/** The title of a test, which names the program and emphasizes a stand-in. */
export function titleOf(program: PredecessorProgram): string {
  const { isReal } = commandOf(program)
  if (!isReal) console.log(`NOT RUN the real ${program.writes}  ${program.variable} names no program`)
  return isReal ? `the real ${program.writes}` : `what writes as ${program.writes} does`
}

/** The predecessor's settings, as the environment of our process. */
export function settingsOf({ dialect, settings }: PredecessorProgram): Record<string, string> {
  const { here, loadBalancer, bgp } = dialectOf(dialect)
  const secret = bgp.password && { [bgp.password.setting]: bgp.password.value }
  return { ...here, ...secret, [loadBalancer]: settings['loadbalancer'] ?? '' }
}

/** MetalLB as a cluster shows it: on the rig, its speakers are processes. */
const speakersOf = (version: MetallbVersion) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'speaker', namespace },
  spec: {
    selector: { matchLabels: { component: 'speaker' } },
    template: {
      metadata: { labels: { component: 'speaker' } },
      spec: {
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: 'speaker', image: `quay.io/metallb/speaker:v${version}` }],
      },
    },
  },
})

/** Opens such a cluster, without our program yet, and closes it after the test. */
export async function onScene(options: SceneOptions, play: (scene: Scene) => Promise<void>): Promise<void> {
  const { program, metallb = '0.16.1' } = options
  const { bgp } = dialectOf(program.dialect)
  const stage: TestStage = await openStage<PredecessorProgram['dialect']>({
    dialect: program.dialect,
    install: 'later',
    users: userOf(program),
    controllers: [...workloadControllers, 'endpoints-controller'],
  })
  const rig = await setRig({
    controlPlane: stage.controlPlane,
    metallb: { version: metallb, webhooks: isSince(metallb, '0.13') },
    provider: bgp.provider,
    password: bgp.password?.value,
  })
  const [first = 'node-a', ...others] = options.machines
  const { cloud, project, token, controlPlane, client } = stage
  const settings = bgp.password && { bgpPass: bgp.password.value }
  const access = { url: cloud.url, project, token }
  if (program.dialect === 'cherry-servers' && commandOf(program).isReal) await suitCherryServers(stage)
  const predecessor = await installPredecessor(
    { program, controlPlane, client, cloud: access, ...(settings && { settings }) },
    first,
  )
  try {
    await stage.send(['create'], speakersOf(metallb))
    const scene = sceneOf({
      stage,
      rig,
      provider: bgp.provider,
      source: bgp.source,
      predecessor,
      metallb: metallbView(stage, metallb),
    })
    for (const name of [first, ...others]) await scene.addMachine(name)
    for (const name of options.services) await scene.addService(name)
    await atRest(scene)
    await play(scene)
    assert.equal(predecessor.otherHosts, [])
  } finally {
    await predecessor.stop()
    await rig.stop()
    await stage.close()
  }
}

/**
 * Prepares the project so that the real program comes to rest. It reads the project's ASN only at its start, and there
 * is none before a server has BGP. It leaves out a node if the rate limit refused one of its calls.
 */
async function suitCherryServers(stage: TestStage): Promise<void> {
  const { cloud, project, token } = stage as TestStage<'cherry-servers'>
  cloud.control.setCallLimit(undefined)
  const { id } = cloud.control.devices.add({ hostname: 'earlier' }) as { id: number }
  const seen = cherryServers({ apiKey: token, projectID: project, 'base-url': cloud.url, loadbalancer: 'empty://' })
  await seen.enableProject()
  await eventually('the project has an ASN', () => seen.session(`cherryservers://${id}`).catch(() => undefined))
  cloud.control.devices.remove(String(id))
}

type Parts = Pick<Scene, 'rig' | 'provider' | 'predecessor' | 'metallb'> & {
  stage: TestStage
  source: 'public' | 'private'
}

function sceneOf({ stage, rig, provider, source, predecessor, metallb }: Parts): Scene {
  const { startNode } = simulatedNodes(stage)
  const machines: Scene['machines'] = []
  const addresses: Scene['addresses'] = new Map()
  return {
    ...stage,
    rig,
    provider,
    machines,
    addresses,
    predecessor,
    metallb,
    async addMachine(name) {
      const address = ipOf(await startNode(name), 4, source)
      await rig.node({ name, address })
      machines.push({ name, address })
      await speakersReady(stage, machines.length)
    },
    async addService(name) {
      await stage.create(loadBalancer(name, { spec: { selector: { app: 'web' } } }))
      const address = await eventually(`${name} shows its address`, async (observe) => {
        const service = observe(await stage.service(name))
        return shownIn(service) === askedBy(service) ? shownIn(service) : undefined
      })
      addresses.set(name, address)
    },
    async deleteService(name) {
      const address = addresses.get(name)
      await stage.run('delete', 'service', name, '--wait=false')
      await eventually(`${name} no longer exists, its reservation and its pool too`, async (observe) => {
        const seen = observe([
          await stage.service(name),
          (await metallb.pools()).filter((range) => range === `${address}/32`),
          reservationsOf(stage, address),
        ])
        return JSON.stringify(seen) === '[null,[],[]]' || undefined
      })
      addresses.delete(name)
    },
  }
}

/** Marks the speakers' pods as ready, as kubelets do, and waits until their DaemonSet counts them. */
async function speakersReady({ client }: TestStage, count: number): Promise<void> {
  await eventually(`${count} speakers are ready`, async (observe) => {
    const waiting = (await listAll(client, pods, { namespace })).filter(({ status }) => status?.phase !== 'Running')
    for (const { metadata } of waiting) await sayReady(client, metadata)
    const speaker = observe(await client.get(daemonSets, { namespace, name: 'speaker' }))
    return speaker?.status?.numberReady === count || undefined
  })
}

function reservationsOf(stage: TestStage, of = ''): string[] {
  return stage.reserved().flatMap(({ id, address }) => (address === of ? id : []))
}

/** Waits until every router has routes to every Service's address, and to no other. */
export function isAnnounced(scene: Scene): Promise<true> {
  return allLead(scene, [...scene.addresses.values()])
}

/**
 * Waits until a predecessor has counted a new Service. It writes the counts after the pool. In a ConfigMap, this closes
 * every session once more.
 */
export async function atRest(scene: Scene): Promise<void> {
  await isAnnounced(scene)
  const lastChangeMs = () => scene.rig.routers.changes().at(-1)?.atMs ?? 0
  await eventually('no route has changed for six seconds', () => Date.now() - lastChangeMs() > 6_000 || undefined)
  await isAnnounced(scene)
}

/** The state that must be the same before and after, whichever program runs. */
export async function seen(scene: Scene) {
  const { client, addresses } = scene
  const all = await listAll(client, nodes)
  return {
    nodes: all.map(stateOf).toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    reservations: scene.reserved().map(({ id, address }) => `${id} ${address}`),
    services: await Promise.all(
      [...addresses.keys()].map(async (name) => {
        const service = await scene.service(name)
        return { name, uid: service?.metadata.uid, asked: askedBy(service), shown: shownIn(service) }
      }),
    ),
  }
}

function stateOf(node: Node) {
  const { name, uid } = node.metadata
  return { name, uid, machine: node.spec.providerID, taints: cloudTaints(node) }
}

/** The objects of MetalLB by kind and name, or the parts of its document. */
export async function objectNames({ client, metallb }: Scene): Promise<string[]> {
  if (!metallb.hasObjects) return [...(await metallb.pools()), ...(await metallb.sessions())]
  const kinds: Resource<KubeObject>[] = [bgpPeers, ipAddressPools, bgpAdvertisements]
  const lists = await Promise.all(kinds.map((kind) => listAll(client, kind, { namespace })))
  return lists.flatMap((list, n) => list.map(({ metadata }) => `${kinds[n]?.kind} ${metadata.name}`)).toSorted()
}

/** Checks that nothing was bought or released, and that nothing else differs. */
export async function checkQuiet(scene: Scene, before: Awaited<ReturnType<typeof seen>>): Promise<void> {
  assert.equal(await seen(scene), before)
  assert.equal([scene.calls(routes.reserve), scene.calls(routes.release)], [0, 0])
}

/**
 * Checks that routers had a route to each of these Services since a point in time; with several machines, every router
 * had one.
 */
export async function checkWays(
  scene: Scene,
  { sinceMs, kept }: { sinceMs: number; kept: readonly string[] },
): Promise<void> {
  const addresses = new Map([...scene.addresses].filter(([name]) => kept.includes(name)))
  const ways = await waysSince({ ...scene, addresses }, sinceMs)
  assert.ok(ways.fewestAnywhere > 0, JSON.stringify(ways))
  if (scene.machines.length > 1) assert.ok(ways.fewestAtARouter > 0, JSON.stringify(ways))
}
