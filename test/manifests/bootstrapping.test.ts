// The chart for a cluster that has no pod network and whose nodes nobody has prepared.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ValueTree } from '../../manifests/choices.ts'
import type { Node, Taint } from '../../kube/objects.ts'
import { type PodSpec, obstacle, toleration } from '../rig/pods/scheduler.ts'
import { cases, cherry } from './chart-cases.ts'
import { type Rendered, renderChart } from './render.ts'

type RenderedContainer = { args: string[]; env: object[]; envFrom?: object[]; volumeMounts?: object[] }
type RenderedPod = PodSpec & {
  dnsPolicy?: string
  priorityClassName?: string
  containers: RenderedContainer[]
  volumes?: object[]
}

const podOf = (objects: Rendered[], kind: string) =>
  (objects.find((object) => object.kind === kind) as unknown as { spec: { template: { spec: RenderedPod } } }).spec
    .template.spec

const onPodNetwork = podOf(await renderChart(cherry), 'Deployment')
const hostCluster = await renderChart({
  ...cherry,
  hostNetwork: true,
  settings: { 'api-server': 'https://api.example.com:6443', 'fip-tag': 'api' },
})
const onHost = podOf(hostCluster, 'Deployment')
const guardian = podOf(hostCluster, 'DaemonSet')

const node = (...taints: Taint[]): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'a', labels: {} },
  spec: { taints },
})
const uninitialized: Taint = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
}
const controlPlane: Taint = { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }
const notReady: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }
const evicting: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }
const noNetwork: Taint = { key: 'node.kubernetes.io/network-unavailable', effect: 'NoSchedule' }
const unreachable: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }
const full: Taint = { key: 'node.kubernetes.io/disk-pressure', effect: 'NoSchedule' }

// [the node, whether the pods of each kind are placed there]
const placements: [string, Node, { host: boolean; podNetwork: boolean }][] = [
  ['ready', node(), { host: true, podNetwork: true }],
  ['not initialized', node(uninitialized), { host: true, podNetwork: true }],
  ['of the control plane', node(controlPlane), { host: true, podNetwork: true }],
  ['not ready', node(notReady), { host: true, podNetwork: true }],
  ['not ready for some time', node(notReady, evicting), { host: true, podNetwork: false }],
  ['without routes', node(noNetwork), { host: true, podNetwork: false }],
  ['the first of a cluster', node(uninitialized, controlPlane, notReady, evicting), { host: true, podNetwork: false }],
  ['that nobody reaches', node(unreachable), { host: false, podNetwork: false }],
  ['with a full disk', node(full), { host: false, podNetwork: false }],
  ['cordoned', { ...node(), spec: { unschedulable: true } }, { host: false, podNetwork: false }],
]

for (const [name, target, { host, podNetwork }] of placements) {
  test(`the scheduler places pods on a node that is ${name}: host network ${host}, pod network ${podNetwork}`, () => {
    assert.is(obstacle(onHost, target) === undefined, host, obstacle(onHost, target))
    assert.is(obstacle(onPodNetwork, target) === undefined, podNetwork, obstacle(onPodNetwork, target))
    assert.is(obstacle({ ...guardian, hostNetwork: true }, node(...(target.spec.taints ?? []))), undefined)
  })
}

test('a node runs one pod on the host network, and any number on the pod network', () => {
  assert.match(obstacle(onHost, node(), [onHost]) ?? '', 'another pod has port 10260')
  assert.is(obstacle(onPodNetwork, node(), [onPodNetwork]), undefined)
  assert.is(obstacle(guardian, node(), [onHost]), undefined)
})

test('on the host network no pod leaves a node only because its pod network fails', () => {
  assert.is(toleration(onHost, evicting)?.tolerationSeconds, undefined)
  assert.ok(toleration(onHost, evicting))
  // Another node serves these better, so the cluster may move them after its usual five minutes.
  assert.is(toleration(onPodNetwork, evicting), undefined)
})

test('on the host network pods need neither cluster DNS nor the cluster IP of the API server', () => {
  for (const pod of [onHost, guardian]) {
    assert.is(pod.hostNetwork, true)
    assert.is(pod.dnsPolicy, 'Default')
  }
  assert.ok(onHost.containers[0]?.args.includes('--api-server=https://api.example.com:6443'))
  // Cluster DNS waits for a node that only we initialize.
  assert.is(onPodNetwork.dnsPolicy, 'Default')
})

test('the Job of an uninstall runs where the pods ran, and reaches the API server as they did', () => {
  const job = podOf(hostCluster, 'Job')
  assert.equal([job.hostNetwork, job.dnsPolicy], [true, 'Default'])
  assert.equal(job.tolerations, onHost.tolerations)
  assert.ok(job.containers[0]?.args.includes('--api-server=https://api.example.com:6443'))
})

test('no role names an object twice', () => {
  for (const { kind, metadata, rules = [] } of hostCluster as (Rendered & { rules?: { resourceNames?: string[] }[] })[])
    for (const { resourceNames = [] } of rules)
      assert.is(new Set(resourceNames).size, resourceNames.length, `${kind} ${metadata.name}: ${resourceNames.join()}`)
})

test('the guardian talks to the API server of its own node, whatever the others use', () => {
  const given = guardian.containers[0]?.args.filter((arg) => arg.startsWith('--api-server='))
  assert.is(given?.at(-1), '--api-server=https://$(HOST_IP):6443')
})

test('the guardian reaches the provider as the other pods do: by the same environment and files', async () => {
  const { 'extras of pods': values = {} } = cases
  const objects = await renderChart(values)
  for (const { containers, volumes } of ['Deployment', 'DaemonSet'].map((kind) => podOf(objects, kind))) {
    const [container] = containers
    assert.equal(container?.env.at(-1), { name: 'HTTPS_PROXY', value: 'http://proxy:3128' })
    assert.equal(container?.envFrom, values['extraEnvFrom'])
    assert.equal(container?.volumeMounts, values['extraVolumeMounts'])
    assert.equal(volumes, values['extraVolumes'])
  }
  const [guardian] = podOf(objects, 'DaemonSet').containers
  assert.not.ok(guardian?.args.includes('--v=5'))
})

test('the pods go before others, which they prepare the nodes for', () => {
  assert.is(onHost.priorityClassName, 'system-cluster-critical')
  assert.is(guardian.priorityClassName, 'system-node-critical')
})

type Webhook = {
  name: string
  failurePolicy: string
  rules: { apiGroups: string[]; resources: string[] }[]
  namespaceSelector: { matchExpressions: { key: string; operator: string; values: string[] }[] }
}

function webhooksIn(objects: Rendered[]): Webhook[] {
  return objects
    .filter(({ kind }) => kind.endsWith('WebhookConfiguration'))
    .flatMap(({ webhooks }) => webhooks as Webhook[])
}

/** The namespaces, of those that a cluster needs to start, whose objects of this kind are reviewed. */
function reviewed(objects: Rendered[], resource: string): string[] {
  const webhooks = webhooksIn(objects)
  assert.ok(webhooks.length >= 3)
  const matching = webhooks.filter(({ rules }) =>
    rules.some(({ apiGroups, resources }) => apiGroups.includes('') && resources.includes(resource)),
  )
  return ['kube-system', 'eip-admission', 'default'].filter((namespace) =>
    matching.some(({ namespaceSelector: { matchExpressions } }) =>
      matchExpressions.every(({ operator, values }) => values.includes(namespace) === (operator === 'In')),
    ),
  )
}

const policies: [string, ValueTree, string[]][] = [
  ['Ignore', {}, ['kube-system', 'default']],
  ['Fail', { webhooks: { failurePolicy: 'Fail' } }, ['default']],
  ['Fail and namespaces of the user', { webhooks: { failurePolicy: 'Fail', excludedNamespaces: ['default'] } }, []],
]

for (const [name, values, services] of policies) {
  test(`with failurePolicy ${name} nothing that the cluster needs to start is reviewed`, async () => {
    const objects = await renderChart({ ...cherry, ...values })
    assert.equal(reviewed(objects, 'services'), services)
    assert.equal(reviewed(objects, 'services/status'), services)
    // Only our own probes, by their label.
    assert.equal(reviewed(objects, 'configmaps'), ['eip-admission'])
    for (const resource of ['pods', 'nodes', 'leases', 'secrets', 'endpoints', 'namespaces', '*'])
      assert.equal(reviewed(objects, resource), [], resource)
  })
}

test('with failurePolicy Fail the announcing software still writes the status of Services while we are down', async () => {
  const webhooks = webhooksIn(await renderChart({ ...cherry, webhooks: { failurePolicy: 'Fail' } }))
  const ofServices = webhooks.filter(({ rules }) =>
    rules.some(({ resources }) => resources.join().startsWith('services')),
  )
  assert.equal(
    ofServices.map(({ rules, failurePolicy }) => [rules[0]?.resources[0], failurePolicy]),
    [
      ['services', 'Fail'],
      ['services', 'Fail'],
      ['services/status', 'Ignore'],
      ['services', 'Fail'],
    ],
  )
})

test.run()
