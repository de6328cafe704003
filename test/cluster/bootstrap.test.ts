// A new cluster of three real nodes, whose nodes only the product initializes, starts with the chart.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { startCluster } from '../../sandbox/cluster/cluster.ts'
import { installProduct } from '../../sandbox/cluster/product.ts'
import { clusterPrograms, webImage } from '../../sandbox/cluster/programs.ts'
import { eventually } from '../whole/eventually.ts'

const dir = mkdtempSync(join(tmpdir(), 'eipc-'))
const cluster = await startCluster(dir, await clusterPrograms())
const { kubectl, nodes } = cluster
for (const node of nodes) node.powerOn()

const read = async (...args: string[]) => (await kubectl(args)).stdout
const taintsOf = () => read('get', 'nodes', '-o', 'jsonpath={.items[*].spec.taints[*].key}')
const uninitialized = 'node.cloudprovider.kubernetes.io/uninitialized'

test('pods of the host network start before there is a pod network, and initialize every node', async () => {
  await eventually('three nodes have registered', async () => {
    const names = await read('get', 'nodes', '-o', 'name')
    return names.trim().split('\n').length === 3 || undefined
  })
  assert.match(await taintsOf(), uninitialized)
  await installProduct(cluster, { hostNetwork: true, webhooks: { failurePolicy: 'Fail' } })
  await eventually('no node waits for its cloud provider', async () =>
    (await taintsOf()).includes(uninitialized) ? undefined : true,
  )
})

test('a client outside is answered by a pod through the address that `kubectl create` returned', async () => {
  for (const node of nodes) await node.addPodNetwork()
  const run = await kubectl(['create', '-f', '-'], deployment)
  assert.is(run.code, 0, run.stderr)
  await eventually('its pods are ready', async () => {
    const ready = await read('get', 'deployment', 'web', '-o', 'jsonpath={.status.readyReplicas}')
    return ready === '2' || undefined
  })
  // With failurePolicy Fail a create is refused until a replica is ready.
  const created = await eventually('the create is reviewed', async (observe) => {
    const { code, stdout, stderr } = await kubectl([...createService, '-o', 'json'])
    observe(stderr)
    return code === 0 ? stdout : undefined
  })
  const { spec } = JSON.parse(created) as { spec: { loadBalancerIP?: string } }
  assert.match(spec.loadBalancerIP ?? '', /^\d+\.\d+\.\d+\.\d+$/)
  const ask = ['curl', '--silent', '--fail', '--max-time', '2', `http://${spec.loadBalancerIP}/hostname`]
  await eventually('the client is answered', async () => (await cluster.atClient(ask)) === 0 || undefined)
})

const createService = ['create', 'service', 'loadbalancer', 'web', '--tcp=80:8080']

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'web', image: webImage, args: ['netexec', '--http-port=8080'] }],
      },
    },
  },
}

test.after(async () => {
  await cluster.stop()
  rmSync(dir, { recursive: true, force: true })
})

test.run()
