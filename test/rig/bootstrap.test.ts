// A cluster that starts from nothing: the chart is installed before there is a node. The pods run on unprepared nodes,
// without a pod network, kube-proxy or cluster DNS. Nothing that the cluster needs depends on us.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Node, Service } from '../../kube/objects.ts'
import { nodes, services } from '../../kube/resource.ts'
import { uninitialized } from '../../controllers/nodes/taints.ts'
import type { ValueTree } from '../../manifests/choices.ts'
import { chartFolder } from '../../sandbox/run-helm.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { ipOf } from '../whole/simulated-nodes.ts'
import { type ChartOptions, type ChartStage, withChart } from './chart-stage.ts'
import { makeReady } from './pods/kubelet.ts'

type Metal = ChartStage<'equinix-metal'>

const notReady = 'node.kubernetes.io/not-ready'
const options: ChartOptions<'equinix-metal'> = {
  dialect: 'equinix-metal',
  controllers: ['taint-eviction-controller'],
  // Pods without a toleration for nodes that are not ready are evicted almost at once.
  apiServerFlags: ['--default-not-ready-toleration-seconds=1'],
  kubelet: { nodes: [], kubeProxy: false },
  podSecurity: 'privileged',
}

/**
 * The time-out of a webhook here, which any request that waits for us would need. A busy machine delays requests less.
 */
const webhookSeconds = 20
const soonMs = 15_000

async function install({ controlPlane, helm, values, run }: Metal, failurePolicy: 'Ignore' | 'Fail'): Promise<void> {
  const settings = {
    ...(values['settings'] as ValueTree),
    'api-server': controlPlane.url,
    // A replica that lost its power cannot release the lease.
    'leader-elect-lease-duration': '4s',
    'leader-elect-renew-deadline': '3s',
    'leader-elect-retry-period': '500ms',
  }
  const chosen = { ...values, settings, hostNetwork: true, webhooks: { failurePolicy } }
  await helm(['upgrade', '--install', 'eip-admission', chartFolder], chosen)
  const patch = JSON.stringify([{ op: 'replace', path: '/webhooks/0/timeoutSeconds', value: webhookSeconds }])
  for (const kind of ['mutating', 'validating'])
    await run(['patch', `${kind}webhookconfiguration`, 'zz-eip-admission', '--type=json', '-p', patch])
}

async function create({ client }: Metal, namespace: string, name: string): Promise<Service> {
  const startedMs = performance.now()
  const created = await client.create(services, loadBalancer(name, { namespace }) as Service)
  const tookMs = performance.now() - startedMs
  assert.ok(tookMs < soonMs, `the create of ${namespace}/${name} took ${tookMs} ms`)
  return created
}

/** Why the API server refuses a Service that only we could complete; undefined while it accepts it. */
async function refusal({ client }: Metal, name: string): Promise<string | undefined> {
  const service = loadBalancer(name, { namespace: 'default' }) as Service
  return client.create(services, service, { dryRun: true }).then(
    () => undefined,
    (error: unknown) => String(error),
  )
}

const essentials: object[] = [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'dns', namespace: 'kube-system' },
    spec: { ports: [{ port: 53 }] },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default' },
    spec: { ports: [{ port: 80 }] },
  },
  {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'kcm', namespace: 'kube-system' },
    spec: {},
  },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'early' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'any', namespace: 'eip-admission' } },
]

/** With Fail, requests that wait for us are refused, except all that the cluster needs to start or to recover. */
async function createWithoutUs(stage: Metal, when: string): Promise<void> {
  await eventually('a Service is refused', async (observe) => {
    const reason = observe(await refusal(stage, `refused-${when}`))
    return reason === undefined ? undefined : /webhook/.test(reason) || undefined
  })
  for (const namespace of ['kube-system', 'eip-admission']) {
    const { spec } = await create(stage, namespace, when)
    assert.is(spec.loadBalancerIP, undefined)
  }
  for (const object of essentials) await stage.run(['create', '--dry-run=server', '-f', '-'], object)
}

/** Adds a machine, and its node as the kubelet registers it before there is a pod network. */
async function joinNode({ cloud, kubelet }: Metal, name: string): Promise<void> {
  const address = ipOf(
    cloud.control.devices.add({ hostname: name }) as unknown as Parameters<typeof ipOf>[0],
    4,
    'private',
  )
  const metadata = { name, annotations: { 'alpha.kubernetes.io/provided-node-ip': address } }
  const taints = [
    { key: uninitialized, value: 'true', effect: 'NoSchedule' },
    { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' },
    { key: notReady, effect: 'NoExecute' },
  ]
  const node = { apiVersion: 'v1', kind: 'Node', metadata, spec: { taints } } as Node
  await kubelet.join(node, address)
}

async function isInitialized({ client }: Metal, name: string): Promise<void> {
  const node = await eventually(`${name} is initialized`, async (observe) => {
    const stored = observe(await client.get(nodes, { name }))
    const keys = stored?.spec.taints?.map(({ key }) => key) ?? []
    return stored?.spec.providerID !== undefined && !keys.includes(uninitialized) ? stored : undefined
  })
  assert.ok(
    node.spec.taints?.some(({ key }) => key === notReady),
    'the pod network is not there yet',
  )
}

async function hasAddress({ client }: Metal, namespace: string, name: string): Promise<void> {
  await eventually(`${namespace}/${name} has an address`, async () => {
    return (await client.get(services, { namespace, name }))?.spec.loadBalancerIP
  })
}

/** The API server calls a pod on the host network by its Service, and the pod answers. */
async function isAdmitted(stage: Metal, name: string): Promise<void> {
  await eventually('a Service is accepted', async (observe) => {
    return observe(await refusal(stage, name)) === undefined || undefined
  })
  const { spec } = await create(stage, 'default', name)
  assert.match(spec.loadBalancerIP ?? '', /^\d+\./)
}

async function podUids({ run }: Metal): Promise<string[]> {
  const uids = ['get', 'pods', '-n', 'eip-admission', '-o', 'jsonpath={.items[*].metadata.uid}']
  return (await run(uids)).split(' ').toSorted()
}

/** The process and the API server fail together; the API server must return before the process can. */
async function recover(stage: Metal): Promise<void> {
  const { client, controlPlane, kubelet, run } = stage
  await kubelet.cutPower()
  // The API server recreates this Service when it starts.
  await run(['delete', 'service', 'kubernetes', '-n', 'default'])
  await controlPlane.apiserver.stop()
  await controlPlane.apiserver.start()
  await eventually('the API server has its Service', () =>
    client.get(services, { namespace: 'default', name: 'kubernetes' }),
  )
  await createWithoutUs(stage, 'dark')
  kubelet.restorePower()
  await isAdmitted(stage, 'recovered')
  await hasAddress(stage, 'kube-system', 'dark')
}

test('a cluster starts from nothing and recovers, and nothing that it needs waits for us', async () => {
  await withChart<'equinix-metal'>(async (stage) => {
    await install(stage, 'Ignore')
    for (const namespace of ['kube-system', 'eip-admission', 'default']) await create(stage, namespace, 'ignored')
    await install(stage, 'Fail')
    await createWithoutUs(stage, 'early')

    await joinNode(stage, 'node-a')
    await joinNode(stage, 'node-b')
    await isInitialized(stage, 'node-a')
    await isInitialized(stage, 'node-b')
    const pods = await podUids(stage)
    await isAdmitted(stage, 'admitted')
    for (const name of ['ignored', 'early']) await hasAddress(stage, 'kube-system', name)
    await hasAddress(stage, 'default', 'ignored')
    for (const name of ['node-a', 'node-b']) await makeReady(stage.run, name)

    await recover(stage)
    assert.equal(await podUids(stage), pods, 'no pod was evicted')
    assert.not.match(stage.logText(), /TypeError|ReferenceError|User \\?"[^"]*" cannot/)
  }, options)
})

test.run()
