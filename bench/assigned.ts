// How long clients get no answer when a node with assigned addresses dies, and the cost while all nodes are healthy.
// bench/run.ts runs this in namespaces: a real kube-proxy on each node, and a simulated Hetzner Cloud.
import { setTimeout as sleep } from 'node:timers/promises'
import { endpointSlices, events, nodes, services } from '../kube/resource.ts'
import { type AssignedMachine, type AssignedRig, podPort, setAssignedRig } from '../sandbox/assigned/rig.ts'
import type { Stage } from '../sandbox/stage.ts'
import { inFlight } from './in-flight.ts'
import type { Row } from './measure.ts'
import { type Admin, loadBalancer, onStage, swept, until } from './stage.ts'

const env = { HCLOUD_LOCATION: 'fsn1', HCLOUD_LOAD_BALANCER: 'assign:///', EIP_SWEEP_INTERVAL: '1h' }
const many = 100
const rounds = 3
/** A rate that a project gets for a while, though not for an hour. */
const callLimit = { calls: 10, refillMs: 100 }
/** How long an action of the cloud lasts; meanwhile its server is locked. */
const actionMs = 2_000
/** A node counts as failed after three probes, one a second. */
const detectionMs = 3_500
/** The goal is for an hour; a run with other measures takes only a sample. */
const troubleMinutes = { sample: 5, hour: 60 }

type Scene = {
  stage: Stage<'hetzner'>
  admin: Admin
  rig: AssignedRig
  /** Adds a machine with its node, kube-proxy and pod. A silent machine has only its node, and only answers probes. */
  join: (name: string, how?: 'silent') => Promise<void>
  /** The node to which the provider routes an address. */
  nodeOf: (address: string) => string | undefined
  addresses: () => string[]
  /** The address of each node's pod. */
  pods: ReadonlyMap<string, string>
  replicas: Replicas
}

/** Two replicas of the controllers, and one process that answers reviews. */
type Replicas = {
  /** Kills the leader as a power failure of its node does. `replace` starts another replica. */
  killLeader: () => Promise<void>
  replace: () => Promise<void>
}

/** The replica that started first leads; when it ends, the second one does. */
async function startReplicas(stage: Stage<'hetzner'>, admin: Admin): Promise<Replicas> {
  const serve = (only: string) => stage.serve({ env, flags: [`--only=${only}`] })
  await serve('webhooks')
  const running = [await serve('controllers')]
  await swept(admin)
  running.push(await serve('controllers'))
  return {
    killLeader: async () => void (await running.shift()?.stop('SIGKILL')),
    replace: async () => void running.push(await serve('controllers')),
  }
}

async function setScene(stage: Stage<'hetzner'>, admin: Admin, replicas: Replicas): Promise<Scene> {
  const { control } = stage.cloud
  control.quota.set(2 * many)
  const machines = new Map<string, AssignedMachine>()
  const pods = new Map<string, string>()
  const nodeOf = (address: string) => machines.get(control.route(address) ?? '')?.name
  const addresses = () => control.reservations.all().map(({ ip }) => String(ip))
  const routes = () => new Map(addresses().map((address) => [address, nodeOf(address)] as const))
  const rig = await setAssignedRig({ controlPlane: stage.controlPlane, mode: 'nftables', routes })
  return {
    stage,
    admin,
    rig,
    nodeOf,
    addresses,
    pods,
    replicas,
    async join(name, how) {
      const device = control.devices.add({ hostname: name }) as { id: number; private_net: { ip: string }[] }
      const machine = { name, address: device.private_net[0]?.ip ?? '', pod: `10.244.${machines.size}.2` }
      machines.set(String(device.id), machine)
      pods.set(name, machine.pod)
      await admin.create(nodes, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, labels: { 'kubernetes.io/hostname': name } },
        spec: { providerID: `hcloud://${device.id}` },
        status: {
          addresses: [{ type: 'InternalIP', address: machine.address }],
          conditions: [{ type: 'Ready', status: 'True' }],
        },
      })
      await (how === 'silent' ? rig.network.attach({ name, addresses: [machine.address] }) : rig.start(machine))
    },
  }
}

/** The servers to which 100 addresses move, and whether the leader runs on the node that dies. */
type Death = { targets: number; withLeader?: boolean }

/** The time until all addresses of a dead node are routed elsewhere. Each server runs its actions one at a time. */
async function hundredMove(scene: Scene, { targets, withLeader = false }: Death): Promise<Row[]> {
  const { stage, admin, rig, join, nodeOf, addresses, replicas } = scene
  const { control } = stage.cloud
  const first = `first-of-${targets}`
  await join(first, 'silent')
  const { id } = control.devices.all().at(-1) as { id: number }
  control.setActions({ ms: 0 })
  if (addresses().length === 0)
    await inFlight(8, many, async (n) => void (await admin.create(services, loadBalancer(`web-${n}`))))
  const lead = (isRight: (node: string) => boolean) => () => {
    const at = addresses().map(nodeOf)
    return Promise.resolve(at.length === many && at.every((node) => node !== undefined && isRight(node)))
  }
  await until(
    'each address is at a node',
    lead(() => true),
  )
  for (const { id: ip } of control.reservations.all()) control.reservations.assign(String(ip), String(id))
  for (const { metadata } of (await admin.list(nodes)).items)
    if (metadata.name !== first) await admin.remove(nodes, { name: metadata.name })
  for (let n = 0; n < targets; n += 1) await join(`of-${targets}-${n}`, 'silent')
  // By then, probes have found each node healthy.
  await sleep(10_000)
  control.setActions({ ms: actionMs })
  control.setCallLimit(callLimit)
  control.calls.clear()
  const startedMs = performance.now()
  await Promise.all([rig.gone(first), withLeader && replicas.killLeader()])
  await until(
    'all lead elsewhere',
    lead((node) => node !== first),
    20,
  )
  const ms = performance.now() - startedMs
  const calls = control.calls.count()
  control.setCallLimit(undefined)
  await admin.remove(nodes, { name: first })
  if (withLeader) await replicas.replace()
  const of = withLeader ? ' with the leader' : ''
  const best = (many / targets) * actionMs
  return [
    {
      measure: `power-off${of} until ${many} addresses lead to ${targets} other servers, ${best / 1000} s of actions in a row at each`,
      unit: 'ms',
      ours: [ms],
      goal: { of: 'ours', atMost: withLeader ? 20_000 : 1.2 * best + detectionMs },
    },
    {
      measure: `calls for it${of}, to ${targets} servers`,
      unit: 'calls',
      ours: [calls],
      goal: { of: 'ours', atMost: 3 * many },
    },
  ]
}

async function oneMoves(scene: Scene, withLeader: boolean): Promise<Row[]> {
  const samples: number[] = []
  for (let round = 0; round < rounds; round += 1)
    samples.push(await moveOne(scene, `answering-${withLeader}-${round}`, withLeader))
  return [
    {
      measure: `power-off${withLeader ? ' with the leader' : ''} until the next answer to a client, one address`,
      unit: 'ms',
      ours: samples,
      goal: { of: 'ours', atMost: withLeader ? 10_000 : 8_000 },
    },
  ]
}

/** How long a client of a new Service gets no answer after the node of its address dies. */
async function moveOne(scene: Scene, name: string, withLeader: boolean): Promise<number> {
  const { admin, rig, nodeOf, pods, replicas } = scene
  const { items } = await admin.list(nodes)
  const address = await createWithPods(
    admin,
    name,
    items.flatMap(({ metadata: { name: node } }) => {
      const pod = pods.get(node)
      return pod === undefined ? [] : [{ node, pod }]
    }),
  )
  const client = rig.client(`http://${address}/`, 50)
  const answeredAfter = (atMs: number, isRight: (pod: string) => boolean) =>
    client.answers().find(({ askedMs, pod }) => askedMs > atMs && pod !== undefined && isRight(pod))
  await until('a client is answered', () => Promise.resolve(answeredAfter(0, () => true) !== undefined))
  // By then, probes have found each node healthy.
  await sleep(10_000)
  const holder = nodeOf(address) ?? ''
  const goneMs = Date.now()
  await Promise.all([rig.gone(holder), withLeader && replicas.killLeader()])
  let answeredMs = 0
  await until(
    'a client is answered by another node',
    () => {
      answeredMs = answeredAfter(goneMs, (pod) => pod !== holder)?.answeredMs ?? 0
      return Promise.resolve(answeredMs > 0)
    },
    20,
  )
  await client.stop()
  await admin.remove(nodes, { name: holder })
  if (withLeader) await replicas.replace()
  return answeredMs - goneMs
}

/** Creates a Service with policy Local, so that each node answers with its own pod. */
async function createWithPods(admin: Admin, name: string, pods: { node: string; pod: string }[]): Promise<string> {
  const service = loadBalancer(name)
  const ports = [{ port: 80, targetPort: podPort }]
  const created = await admin.create(services, {
    ...service,
    spec: { ...service.spec, ports, externalTrafficPolicy: 'Local' },
  })
  await admin.create(endpointSlices, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'default', name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: pods.map(({ node, pod }) => ({ addresses: [pod], nodeName: node, conditions: { ready: true } })),
    ports: [{ name: '', port: podPort, protocol: 'TCP' }],
  })
  return created.spec.loadBalancerIP ?? ''
}

/** Nodes that repeatedly fall silent, but never for long enough to justify a move. */
async function falseMoves({ admin, rig, nodeOf, addresses, stage }: Scene, minutes: number): Promise<Row[]> {
  await sleep(10_000)
  const { calls } = stage.cloud.control
  calls.clear()
  await sleep(60_000)
  const atRest = calls.count()
  const before = new Map(addresses().map((address) => [address, nodeOf(address)]))
  const { items } = await admin.list(nodes)
  const endMs = Date.now() + minutes * 60_000
  let silences = 0
  const trouble = async (name: string) => {
    while (Date.now() < endMs) {
      const ms = Math.random() * 1_700
      silences += 1
      await rig.silence(name, ms)
      await sleep(ms + 1_500 + Math.random() * 8_000)
    }
  }
  await Promise.all(items.map(({ metadata }) => trouble(metadata.name)))
  await printMoves(admin, new Date(endMs - minutes * 60_000))
  return [
    {
      measure: 'cloud calls in a minute at rest, addresses assigned',
      unit: 'calls',
      ours: [atRest],
      goal: { of: 'ours', atMost: 0 },
    },
    {
      measure: `moves in ${minutes} minutes of nodes that fell silent ${silences} times`,
      unit: 'moves',
      ours: [[...before].filter(([address, node]) => nodeOf(address) !== node).length],
      goal: { of: 'ours', atMost: 0 },
    },
  ]
}

/** Prints the Events of needless moves, which tell their cause. */
async function printMoves(admin: Admin, since: Date): Promise<void> {
  for (const { reason, message, lastTimestamp } of (await admin.list(events)).items)
    if (reason === 'AddressAssigned' && new Date(lastTimestamp) > since) console.error(`${lastTimestamp} ${message}`)
}

/** Moves every address to nodes with kube-proxy and a pod. */
async function toServingNodes({ stage, admin, join, nodeOf, addresses }: Scene): Promise<void> {
  const { control } = stage.cloud
  control.setActions({ ms: 0 })
  for (let n = 0; n < 2 * rounds + 2; n += 1) await join(`serving-${n}`)
  for (const { metadata } of (await admin.list(nodes)).items)
    if (!metadata.name.startsWith('serving-')) await admin.remove(nodes, { name: metadata.name })
  await until('all lead to serving nodes', () =>
    Promise.resolve(addresses().every((address) => nodeOf(address)?.startsWith('serving-'))),
  )
  control.setActions({ ms: actionMs })
}

/** Removes all other addresses, which would compete for the same servers: the next address dies alone with its node. */
async function removeServices({ admin, addresses }: Scene): Promise<void> {
  const { items } = await admin.list(services, { namespace: 'default' })
  await inFlight(8, items.length, async (n) => {
    const { name = '', namespace } = items[n]?.metadata ?? {}
    if (name !== 'kubernetes') await admin.remove(services, { name, ...(namespace !== undefined && { namespace }) })
  })
  await until('no address is left', () => Promise.resolve(addresses().length === 0))
}

/** An hour of only silent nodes, which just answer probes. It costs little, and may run beside other work. */
async function measureHour(stage: Stage<'hetzner'>, admin: Admin): Promise<Row[]> {
  const scene = await setScene(stage, admin, await startReplicas(stage, admin))
  try {
    for (let n = 0; n < 10; n += 1) await scene.join(`flapping-${n}`, 'silent')
    stage.cloud.control.setActions({ ms: 0 })
    await inFlight(8, many, async (n) => void (await admin.create(services, loadBalancer(`web-${n}`))))
    const isPlaced = () => scene.addresses().every((address) => scene.nodeOf(address) !== undefined)
    await until('each address is at a node', () => Promise.resolve(scene.addresses().length === many && isPlaced()))
    stage.cloud.control.setActions({ ms: actionMs })
    return await falseMoves(scene, troubleMinutes.hour)
  } finally {
    await scene.rig.stop()
  }
}

async function measure(stage: Stage<'hetzner'>, admin: Admin): Promise<Row[]> {
  const scene = await setScene(stage, admin, await startReplicas(stage, admin))
  try {
    const hundreds = [
      ...(await hundredMove(scene, { targets: 10 })),
      ...(await hundredMove(scene, { targets: 2 })),
      ...(await hundredMove(scene, { targets: 20, withLeader: true })),
    ]
    await toServingNodes(scene)
    const calm = await falseMoves(scene, troubleMinutes.sample)
    await removeServices(scene)
    return [...hundreds, ...calm, ...(await oneMoves(scene, false)), ...(await oneMoves(scene, true))]
  } finally {
    await scene.rig.stop()
  }
}

console.log(JSON.stringify(await onStage(process.argv[2] === 'hour' ? measureHour : measure, { dialect: 'hetzner' })))
