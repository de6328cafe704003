// Clusters that other predecessors leave: a DaemonSet of the chart, MetalLB by ConfigMap, kube-vip. Each is planned, taken
// over and given back by the commands that a person types.
import { randomUUID } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse, stringify } from 'yaml'
import type { Product } from '../../sandbox/product.ts'
import { systemClock } from '../../kube/clock.ts'
import { leaseRecord } from '../../kube/lease.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { configMaps } from '../../kube/resource.ts'
import { dialectNames } from '../../server/clouds/dialect-names.ts'
import type { TakeoverPlan } from '../../server/takeover/plan/plan.ts'
import { type Predecessor, predecessors } from '../../server/takeover/predecessors/predecessors.ts'
import { eventually } from '../whole/eventually.ts'
import { followed } from '../whole/command-line.ts'
import { serviceTag } from '../whole/dialects.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { ipOf, simulatedNodes } from '../whole/simulated-nodes.ts'
import { routes } from '../whole/test-stage.ts'
import { dialect, openStage } from './dialect.ts'
import { serviceFacts, upstream } from './takeover-scene.ts'

type Shape = {
  name: string
  kind: 'Deployment' | 'DaemonSet'
  image: string
  leaderElect: boolean
  /** The setting of the announcing software in the Secret. */
  software: string
  /** The announcing software as a workload. */
  program: { kind: 'Deployment' | 'DaemonSet'; namespace: string; name: string; image: string }
  announcer: string
}

const kubeVip = {
  kind: 'DaemonSet',
  namespace: 'kube-system',
  name: 'kube-vip',
  image: 'ghcr.io/kube-vip/kube-vip:v0.8.9',
} as const
const metallbOf = (version: string) =>
  ({
    kind: 'Deployment',
    namespace: 'metallb-system',
    name: 'controller',
    image: `quay.io/metallb/controller:v${version}`,
  }) as const
const cpem = 'quay.io/equinix-oss/cloud-provider-equinix-metal'

const shapes: Record<string, Shape[]> = {
  'equinix-metal': [
    {
      name: 'CPEM 3.8 of the chart, a DaemonSet that elects a leader, with kube-vip',
      kind: 'DaemonSet',
      image: `${cpem}:v3.8.1`,
      leaderElect: true,
      software: 'kube-vip://',
      program: kubeVip,
      announcer: 'kube-vip',
    },
    {
      name: 'CPEM 3.7 with MetalLB 0.12 by ConfigMap',
      kind: 'Deployment',
      image: `${cpem}:v3.7.0`,
      leaderElect: false,
      software: 'metallb:///metallb-system/config',
      program: metallbOf('0.12.1'),
      announcer: 'metallb',
    },
  ],
  packet: [
    {
      name: "Packet's program with MetalLB 0.11 by ConfigMap",
      kind: 'Deployment',
      image: 'packethost/packet-ccm:v1.1.0',
      leaderElect: false,
      software: 'metallb:///metallb-system/config',
      program: metallbOf('0.11.0'),
      announcer: 'metallb',
    },
  ],
}

const stage = await openStage()
const { cloud, project, token, controlPlane, client } = stage
const { bgp } = dialect
const predecessor = predecessors.find(({ id }) => id === dialect.name) ?? ({} as Predecessor)
const { workload, secret, provider } = predecessor
const [placeField, place] =
  { 'equinix-metal': ['metro', 'da'], packet: ['facility', 'da11'] }[dialect.name as string] ?? []
const uid = await stage.run('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}')
const common = { ...dialect.here, ...(bgp.password && { [bgp.password.setting]: bgp.password.value }) }

/** Nodes as a predecessor leaves them: with machines that have BGP. */
const machines = await (async () => {
  const product = await stage.startSwept({ env: { ...common, [dialect.loadBalancer]: 'empty://' } })
  const { startNode } = simulatedNodes(stage)
  const all = []
  for (const name of ['node-a', 'node-b']) all.push({ name, address: ipOf(await startNode(name), 4, bgp.source) })
  await product.stop()
  await stage.run('delete', 'secret', 'eip-admission-peers', '-n', 'eip-admission', '--ignore-not-found')
  await stage.run('delete', 'configmap', 'eip-admission-ledger', '-n', 'eip-admission', '--ignore-not-found')
  return all
})()

/** The Services, with reservations that have the marks of the predecessor. */
const addresses = new Map<string, string>()
for (const name of ['web', 'api']) {
  const cluster = dialect.adoptsUnmarked ? [] : [`cluster=${uid}`]
  const { address } = await stage.order([dialect.usage, serviceTag(dialect, `default/${name}`), ...cluster])
  await stage.create(loadBalancer(name, { spec: { loadBalancerIP: address } }))
  await stage.run('patch', 'service', name, '-p', JSON.stringify({ metadata: { finalizers: [upstream] } }))
  const status = { loadBalancer: { ingress: [{ ip: address }] } }
  await stage.run('patch', 'service', name, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status }))
  addresses.set(name, address)
}
await stage.run('create', 'namespace', 'metallb-system')

const labels = { app: workload.name }

function workloadOf({ kind, image, leaderElect }: Shape): KubeObject {
  const command = [`./${workload.name}`, `--cloud-provider=${provider}`, `--leader-elect=${leaderElect}`]
  const file = `--${dialect.name === 'packet' ? 'provider' : 'cloud'}-config=/etc/cloud-sa/cloud-sa.json`
  const template = {
    metadata: { labels },
    spec: {
      nodeSelector: { 'node-role.kubernetes.io/control-plane': '' },
      containers: [
        { name: 'ccm', image, command: [...command, file], volumeMounts: [{ name: 'sa', mountPath: '/etc/cloud-sa' }] },
      ],
      volumes: [{ name: 'sa', secret: { secretName: secret.name } }],
    },
  }
  const spec = { ...(kind === 'Deployment' && { replicas: 1 }), selector: { matchLabels: labels }, template }
  return { apiVersion: 'apps/v1', kind, metadata: { ...workload, labels }, spec } as KubeObject
}

/** What the predecessor has in MetalLB's ConfigMap, beside a pool of a person. */
function documentOf({ announcer }: Shape): string {
  const byHand = { name: 'by-hand', protocol: 'layer2', addresses: ['10.0.0.0/24'] }
  if (announcer !== 'metallb') return stringify({ peers: [], 'address-pools': [byHand] })

  const { counting } = dialectNames[dialect.name].announcerMarks
  const counts = [...addresses.keys()].map((name) => ({
    'match-labels': { [`${counting}/service-name`]: name, [`${counting}/service-namespace`]: 'default' },
  }))
  const peers = machines.flatMap(({ name, address }) =>
    bgp.provider.routers.map((router) => ({
      'my-asn': bgp.provider.machines.asn,
      'peer-asn': bgp.provider.asn,
      'peer-address': router,
      'source-address': address,
      ...(bgp.password && { password: bgp.password.value }),
      'node-selectors': [{ 'match-labels': { 'kubernetes.io/hostname': name } }, ...counts],
    })),
  )
  const pools = [...addresses].map(([name, address]) => ({
    name: `default/${name}`,
    protocol: 'bgp',
    addresses: [`${address}/32`],
    'auto-assign': false,
  }))
  return stringify({ peers, 'address-pools': [byHand, ...pools] })
}

type Document = {
  peers: { 'peer-address': string; 'node-selectors': { 'match-labels': Record<string, string> }[] }[]
  'address-pools': { name: string; addresses: string[] }[]
}

async function document(): Promise<Document> {
  const map = await client.get(configMaps, { namespace: 'metallb-system', name: 'config' })
  return parse(map?.data?.['config'] ?? '') as Document
}

/** The sessions and pools of a document, however it is written. */
function meaningOf({ peers, 'address-pools': pools }: Document) {
  const hostOf = (peer: Document['peers'][number]) =>
    peer['node-selectors'].flatMap((one) => one['match-labels']['kubernetes.io/hostname'] ?? [])
  return {
    peers: peers.map((peer) => `${hostOf(peer).join()} ${peer['peer-address']}`).toSorted(),
    pools: pools.map(({ name, addresses: all }) => `${name} ${all.join()}`).toSorted(),
  }
}

const flags = [`--kubeconfig=${controlPlane.kubeconfig}`]

/** Its pods run while it may: a DaemonSet until its selector fits no node. */
function runPods({ kind, leaderElect }: Shape): { stop: () => Promise<void> } {
  const over = new AbortController()
  const record = leaseRecord({
    client,
    lease: predecessor.lease,
    identity: `node-a_${randomUUID()}`,
    leaseDurationMs: 2_000,
    callTimeoutMs: 5_000,
    clock: systemClock,
  })
  const of = [kind.toLowerCase(), workload.name, '-n', workload.namespace]
  const turn = async () => {
    const stored = JSON.parse(await stage.run('get', ...of, '-o', 'json')) as {
      spec: { replicas?: number; template: { spec: { nodeSelector?: Record<string, string> } } }
    }
    const selector = stored.spec.template.spec.nodeSelector ?? {}
    const runs =
      kind === 'Deployment' ? stored.spec.replicas === 1 : !('eip-admission.dev/stopped-by-takeover' in selector)
    const count = runs ? 1 : 0
    // It never releases its lease.
    if (runs && leaderElect) await record.claim()
    const status =
      kind === 'Deployment'
        ? { replicas: count, readyReplicas: count }
        : { currentNumberScheduled: count, desiredNumberScheduled: count, numberMisscheduled: 0, numberReady: count }
    await stage.run('patch', ...of, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status }))
  }
  const loop = (async () => {
    while (!over.signal.aborted) {
      await turn().catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
  })()
  return {
    async stop() {
      over.abort()
      await loop
    },
  }
}

async function install(shape: Shape): Promise<() => Promise<void>> {
  const file = { apiKey: token, projectID: project, 'base-url': cloud.url, loadbalancer: shape.software }
  const settings = { ...file, [placeField ?? '']: place, ...(bgp.password && { bgpPass: bgp.password.value }) }
  const stringData = { [secret.key]: JSON.stringify(settings) }
  const { program } = shape
  const software = {
    apiVersion: 'apps/v1',
    kind: program.kind,
    metadata: { namespace: program.namespace, name: program.name },
    spec: {
      selector: { matchLabels: { app: program.name } },
      template: {
        metadata: { labels: { app: program.name } },
        spec: {
          containers: [
            { name: 'c', image: program.image, env: [{ name: 'annotations', value: dialect.prefix.replace('/', '') }] },
          ],
        },
      },
    },
  }
  const config = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'metallb-system', name: 'config' },
    data: { config: documentOf(shape) },
  }
  const metadata = { namespace: secret.namespace, name: secret.name }
  const all = [{ apiVersion: 'v1', kind: 'Secret', metadata, stringData }, software, config, workloadOf(shape)]
  for (const object of all) await stage.send(['create'], object)
  const ready =
    program.kind === 'Deployment'
      ? { replicas: 1, readyReplicas: 1 }
      : { currentNumberScheduled: 2, desiredNumberScheduled: 2, numberMisscheduled: 0, numberReady: 2 }
  const of = [program.kind.toLowerCase(), program.name, '-n', program.namespace]
  await stage.run('patch', ...of, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status: ready }))
  const pods = runPods(shape)
  return async () => {
    await pods.stop()
    await stage.run('delete', 'secret', secret.name, '-n', secret.namespace)
    await stage.run('delete', ...of)
    await stage.run('delete', 'configmap', 'config', '-n', 'metallb-system')
    await stage.run('delete', shape.kind.toLowerCase(), workload.name, '-n', workload.namespace)
  }
}

/** Where kube-vip does not read it, the password goes from nodes; whoever serves writes it anew where it is needed. */
function withoutPasswords(names: string[]): string[] {
  return names.filter((name) => !name.endsWith('-bgp-pass'))
}

/** What is the same before, and after the way there and back. */
async function seen({ kind }: Shape) {
  const nodes = JSON.parse(await stage.run('get', 'nodes', '-o', 'json')) as { items: KubeObject[] }
  const stored = JSON.parse(
    await stage.run('get', kind.toLowerCase(), workload.name, '-n', workload.namespace, '-o', 'json'),
  ) as { spec: object }
  return {
    services: await serviceFacts(stage),
    nodes: nodes.items.map(({ metadata: { name, uid: id, annotations = {} } }) => [
      name,
      id,
      withoutPasswords(Object.keys(annotations)).toSorted(),
    ]),
    spec: stored.spec,
    document: meaningOf(await document()),
  }
}

async function thereAndBack(shape: Shape): Promise<void> {
  const before = await seen(shape)
  cloud.control.calls.clear()
  const planned = await followed(['takeover', 'plan', '-o', 'json', ...flags])
  assert.is(planned.code, 0, planned.output)
  const plan = JSON.parse(planned.output) as TakeoverPlan
  assert.equal(plan.blockers, [])
  assert.is(plan.announcer.name, shape.announcer)
  assert.is(plan.predecessor.lease.isUsed, shape.leaderElect)
  assert.equal(
    new Set(plan.services.map(({ name, before: one, after, held }) => [name, one, after, held].join(' '))),
    new Set([...addresses].map(([name, address]) => `${name} ${address} ${address} reserved`)),
  )

  let starting: Promise<Product> | undefined
  const apply = await followed(
    ['takeover', 'apply', '--patience=60s', ...flags, `--webhook-url=${stage.webhookUrl}`],
    (text) => {
      if (!text.includes('start `eip-admission serve`')) return
      starting ??= stage.start({ env: { ...common, [dialect.loadBalancer]: shape.software } })
      // Its failure is told below.
      starting.catch(() => {})
    },
  )
  assert.is(apply.code, 0, apply.output)
  const product = await starting
  for (const [name, address] of addresses) assert.is(await stage.settled(name), address)
  if (shape.announcer === 'metallb')
    await eventually('the document has the same sessions and pools', async (observe) => {
      const now = observe(meaningOf(await document()))
      return JSON.stringify(now) === JSON.stringify(before.document) || undefined
    })
  const done = await followed(['takeover', 'plan', ...flags])
  assert.is(done.code, 0, done.output)
  assert.match(done.output, /^Complete: /m)

  await product?.stop()
  const undo = await followed(['takeover', 'undo', '--patience=60s', ...flags])
  assert.is(undo.code, 0, undo.output)
  assert.equal(await seen(shape), before)
  assert.equal([stage.calls(routes.reserve), stage.calls(routes.release)], [0, 0])
}

for (const shape of shapes[dialect.name] ?? [])
  test(`${shape.name}: plan, apply and undo`, async () => {
    const remove = await install(shape)
    try {
      await thereAndBack(shape)
    } finally {
      await remove()
    }
  })

test.after(() => stage.close())

test.run()
