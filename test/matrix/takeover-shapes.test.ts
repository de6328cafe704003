// Clusters that other predecessors leave: a DaemonSet of the chart, MetalLB by ConfigMap, kube-vip. Each is planned,
// taken over and undone with the commands that a person types.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Product } from '../../sandbox/product.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { finalizersOf, versionOf } from '../../inspect/predecessors.ts'
import type { TakeoverPlan } from '../../commands/takeover/plan/plan.ts'
import { eventually } from '../whole/eventually.ts'
import { followed } from '../whole/command-line.ts'
import { serviceTag } from '../whole/dialects.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { dialect, openStage, routes } from './dialect.ts'
import { meaningOf, documentOf, readDocument } from './takeover-document.ts'
import { runPods } from './takeover-pods.ts'
import { leaveMachines, serviceFacts } from './takeover-scene.ts'
import { type Shape, predecessor, shapes, workloadOf } from './takeover-shapes.ts'

const stage = await openStage()
const { cloud, project, token, controlPlane, client } = stage
const { bgp } = dialect
const { workload, secret } = predecessor
const [placeField, place] =
  { 'equinix-metal': ['metro', 'da'], packet: ['facility', 'da11'] }[dialect.name as string] ?? []
const uid = await stage.run('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}')
const common = { ...dialect.here, ...(bgp.password && { [bgp.password.setting]: bgp.password.value }) }

const machines = await leaveMachines(stage)

const finalizers = finalizersOf(predecessor, versionOf(shapes[dialect.name]?.[0]?.image ?? ''))

/** The Services, with reservations that have the marks of the predecessor. */
const addresses = new Map<string, string>()
for (const name of ['web', 'api']) {
  const cluster = dialect.adoptsUnmarked ? [] : [`cluster=${uid}`]
  const { address } = await stage.order([dialect.usage, serviceTag(dialect, `default/${name}`), ...cluster])
  await stage.create(loadBalancer(name, { spec: { loadBalancerIP: address } }))
  await stage.run('patch', 'service', name, '-p', JSON.stringify({ metadata: { finalizers } }))
  const status = { loadBalancer: { ingress: [{ ip: address }] } }
  await stage.run('patch', 'service', name, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status }))
  addresses.set(name, address)
}
await stage.run('create', 'namespace', 'metallb-system')

const flags = [`--kubeconfig=${controlPlane.kubeconfig}`]

async function install(shape: Shape): Promise<() => Promise<void>> {
  const file = { apiKey: token, projectID: project, 'base-url': cloud.url, loadbalancer: shape.software }
  const settings = { ...file, [placeField ?? '']: place, ...(bgp.password && { bgpPass: bgp.password.value }) }
  const stringData = { [secret.key]: JSON.stringify(settings) }
  const { program } = shape
  const software = await softwareOf(program)
  const config = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'metallb-system', name: 'config' },
    data: { config: documentOf(shape, { addresses, machines }) },
  }
  const metadata = { namespace: secret.namespace, name: secret.name }
  const all = [{ apiVersion: 'v1', kind: 'Secret', metadata, stringData }, software, config, workloadOf(shape)]
  for (const object of all) await stage.send(['create'], object)
  const ready =
    program.kind === 'Pod'
      ? { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
      : { replicas: 1, readyReplicas: 1 }
  const of = [program.kind.toLowerCase(), program.name, '-n', program.namespace]
  await stage.run('patch', ...of, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status: ready }))
  const pods = runPods(stage, shape)
  return async () => {
    await pods.stop()
    await stage.run('delete', 'secret', secret.name, '-n', secret.namespace)
    await stage.run('delete', ...of, ...(program.kind === 'Pod' ? ['--force', '--grace-period=0'] : []))
    await stage.run('delete', 'configmap', 'config', '-n', 'metallb-system')
    await stage.run('delete', shape.kind.toLowerCase(), workload.name, '-n', workload.namespace)
  }
}

/** The announcing software as its manifests install it, or a static pod as its kubelet shows it in the cluster. */
async function softwareOf({ kind, namespace, name, image }: Shape['program']): Promise<object> {
  const env = [{ name: 'annotations', value: dialect.prefix.replace('/', '') }]
  const spec = { containers: [{ name: 'c', image, env }] }
  if (kind === 'Pod') {
    const node = { name: 'node-a', uid: await stage.run('get', 'node', 'node-a', '-o', 'jsonpath={.metadata.uid}') }
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', controller: true, ...node }]
    const annotations = { 'kubernetes.io/config.mirror': 'hash', 'kubernetes.io/config.source': 'file' }
    const metadata = { namespace, name, annotations, ownerReferences }
    return {
      apiVersion: 'v1',
      kind,
      metadata,
      spec: { ...spec, nodeName: 'node-a', automountServiceAccountToken: false },
    }
  }
  const labels = { app: name }
  const template = { metadata: { labels }, spec }
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { namespace, name },
    spec: { selector: { matchLabels: labels }, template },
  }
}

/**
 * The password disappears from nodes where kube-vip does not read it. The serving program writes it again if needed.
 */
function withoutPasswords(names: string[]): string[] {
  return names.filter((name) => !name.endsWith('-bgp-pass'))
}

/** All facts that must be the same before the takeover and after its undo. */
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
    document: meaningOf(await readDocument(client)),
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
      // A failed start is reported below.
      starting.catch(() => {})
    },
  )
  assert.is(apply.code, 0, apply.output)
  const product = await starting
  for (const [name, address] of addresses) assert.is(await stage.settled(name), address)
  if (shape.announcer === 'metallb')
    await eventually('the document has the same sessions and pools', async (observe) => {
      const now = observe(meaningOf(await readDocument(client)))
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
